# The server in an image: `docker build -t qortal-mcp .`; docs/operate.md has the rest.
# `.ci/image.py` takes these steps without a container engine.
FROM python:3.13-slim AS build
WORKDIR /build
COPY requirements.txt requirements-dev.txt ./
RUN python -m venv /opt/qortal-mcp
RUN /opt/qortal-mcp/bin/python -m pip install --quiet --no-cache-dir --disable-pip-version-check --require-hashes -r requirements.txt
# What builds the package comes from the lock, too, and stays out of the image.
RUN sed -n '/^flit-core==/,/[^\\]$/p' requirements-dev.txt > backend.txt
RUN python -m pip install --quiet --no-cache-dir --disable-pip-version-check --target backend --require-hashes -r backend.txt
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN PYTHONPATH=backend /opt/qortal-mcp/bin/python -m pip install --quiet --no-deps --no-build-isolation --disable-pip-version-check .
# Nothing is installed or compiled in a running container: its files are read-only.
RUN /opt/qortal-mcp/bin/python -m compileall -q /opt/qortal-mcp/lib
RUN /opt/qortal-mcp/bin/python -m pip uninstall --quiet --yes pip

FROM python:3.13-slim
# The registry of MCP servers looks for this name to see whose image it is.
LABEL io.modelcontextprotocol.server.name="io.github.qortal-mcp/qortal-mcp"
LABEL org.opencontainers.image.source="https://github.com/qortal-mcp/qortal-mcp"
LABEL org.opencontainers.image.licenses="MIT"
COPY --from=build /opt/qortal-mcp /opt/qortal-mcp
ENV PATH=/opt/qortal-mcp/bin:$PATH PYTHONDONTWRITEBYTECODE=1
USER 65532:65532
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT ["qortal-mcp"]
# It does not start without a token: QORTAL_MCP_TOKEN_FILE names its file. For a client that starts it itself: stdio.
CMD ["serve", "--listen", "0.0.0.0:8000"]
