# SPDX-License-Identifier: Apache-2.0
# One image, one bundle, one subcommand a component. Build: make image (buildah), or docker build .
ARG BUILD=docker.io/library/node:24-slim
ARG BASE=gcr.io/distroless/nodejs24-debian12:nonroot

FROM ${BUILD} AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund && node node_modules/esbuild/install.js
# esbuild reads it: without it the bundle is not the one that was tested.
COPY tsconfig.json ./
COPY build build
COPY src src
RUN node build/bundle.ts

FROM ${BASE}
COPY --from=build --chmod=0555 /src/dist/countersign.mjs /countersign.mjs
# The numeric user lets runAsNonRoot be checked; nothing is ever written to the root file system.
USER 65532:65532
# No regular expression of a dependency stalls the event loop; no signal opens a debugger, which
# would read keys out of the memory. Semi-spaces of 8 MiB in place of 16: a storm of requests leaves
# less memory behind, and no fewer are signed a second (docs/reference/performance.md).
ENTRYPOINT ["/nodejs/bin/node", "--enable-experimental-regexp-engine-on-excessive-backtracks", "--disable-sigusr1", "--max-semi-space-size=8", "/countersign.mjs"]
CMD ["--help"]
