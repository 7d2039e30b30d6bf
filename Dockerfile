# Builds an image of the service, to run beside a ClickHouse server. The image leaves out the embedded engine, whose
# library is larger than everything else in it. To include the engine, remove `--omit=optional`.
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# The binary of esbuild is an optional package as well, so `npm ci` leaves it out. Its install script fetches it.
RUN npm ci --ignore-scripts --omit=optional --no-audit --no-fund && npm rebuild esbuild
COPY tsconfig.json tsconfig.build.json ./
COPY generated generated
COPY scripts scripts
COPY src src
RUN npm run build

FROM node:22-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --omit=dev --omit=optional --no-audit --no-fund

FROM node:22-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE CHANGELOG.md ./
COPY docs docs
COPY openapi/openapi.yaml openapi/collector.yaml openapi/management.yaml openapi/
COPY clickhouse clickhouse
COPY generated/referrer-list.json generated/
RUN mkdir /data && chown node:node /data
USER node
WORKDIR /data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((response) => process.exit(response.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/cli.js"]
CMD ["serve"]
