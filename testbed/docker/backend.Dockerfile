# A member: one static program, nothing else.
FROM scratch
COPY backend /backend
USER 65534:65534
ENTRYPOINT ["/backend"]
