# Builds the book when a container of it starts, and serves it. What was built is kept in a volume:
#   docker build --build-arg COMMIT=$(git describe --always --dirty --abbrev=12) -t focal .
#   docker run --rm -p 8000:8000 -v focal-build:/home/focal/book/_build focal     # then http://localhost:8000
FROM python:3.12-bookworm@sha256:581429e3df12d76e6af4be5ab7d0e7fc2013eb57dc23d2de691411c8efdbb970 AS system
COPY workflow/debian_packages.sh workflow/debian_packages.txt /opt/debian/
RUN bash /opt/debian/debian_packages.sh && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 1000 --create-home --shell /bin/bash focal
USER 1000

FROM system AS environment
WORKDIR /home/focal/book
# the pinned packages before the sources: another commit does not install them again
COPY --chown=focal requirements.lock ./
RUN python -m venv .venv && .venv/bin/python -m pip install --no-cache-dir -qq -r requirements.lock

FROM environment AS book
COPY --chown=focal . .
RUN make .venv/ready && mkdir -p _build
ARG COMMIT=""
ENV FOCAL_COMMIT=${COMMIT}
EXPOSE 8000
CMD ["bash", "workflow/serve.sh", "8000"]
