// Package pipeline compiles a model into the rules of a switch.
package pipeline
