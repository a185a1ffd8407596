// Package figure makes what documents show of measurements: plots as SVG, and tables in a marked place of a page.
package figure
