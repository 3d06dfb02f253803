# SPDX-License-Identifier: Apache-2.0
# One image, one bundle, one subcommand a component, which reads the parts of the bundle that it
# needs. Build: make image (buildah), or docker build .
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

# V8's code for the bundle. Node takes it only from the same paths, flags and user.
FROM ${BASE} AS compiled
COPY --from=build --chmod=0555 /src/dist/countersign.mjs /countersign.mjs
COPY --from=build --chmod=0555 /src/dist/countersign /countersign
COPY build/compile-cache.ts /tmp/
USER 65532:65532
ENV NODE_COMPILE_CACHE=/tmp/compile-cache
RUN ["/nodejs/bin/node", "--enable-experimental-regexp-engine-on-excessive-backtracks", "--disable-sigusr1", "--max-semi-space-size=8", "--random-seed=1", "/tmp/compile-cache.ts", "/countersign"]

FROM ${BASE}
COPY --from=build --chmod=0555 /src/dist/countersign.mjs /countersign.mjs
COPY --from=build --chmod=0555 /src/dist/countersign /countersign
# It is code: root owns it, and no component can write it.
COPY --from=compiled --chown=0:0 --chmod=0555 /tmp/compile-cache /compile-cache
ENV NODE_COMPILE_CACHE=/compile-cache
# The numeric user lets runAsNonRoot be checked; nothing is ever written to the root file system.
USER 65532:65532
# No regular expression of a dependency stalls the event loop; no signal opens a debugger, which
# would read keys out of the memory. Semi-spaces of 8 MiB in place of 16: a storm of requests leaves
# less memory behind, and no fewer are signed a second (docs/reference/performance.md).
ENTRYPOINT ["/nodejs/bin/node", "--enable-experimental-regexp-engine-on-excessive-backtracks", "--disable-sigusr1", "--max-semi-space-size=8", "/countersign.mjs"]
CMD ["--help"]
