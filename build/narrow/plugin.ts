// SPDX-License-Identifier: Apache-2.0
/** Omits from the bundle the code that dependencies load and Countersign never calls. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { OnLoadResult, Plugin } from 'esbuild';

const require = createRequire(import.meta.url);

const CLIENT_NODE = dirname(require.resolve('@kubernetes/client-node'));
const OIDC_STAND_IN = join(import.meta.dirname, 'oidc-auth.ts');

/**
 * undici without fetch, WebSocket, caches, mocks and interceptors. Countersign sends requests
 * through a pool, an agent and a client, and builds the connector of its pools. client-node imports
 * the proxy for `proxy-url`, which kube/client/kubeconfig.ts refuses.
 */
const UNDICI = `
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import request from 'undici/lib/api/api-request.js';
Dispatcher.prototype.request = request;
export { default as Agent } from 'undici/lib/dispatcher/agent.js';
export { default as Client } from 'undici/lib/dispatcher/client.js';
export { default as Pool } from 'undici/lib/dispatcher/pool.js';
export { default as buildConnector } from 'undici/lib/core/connect.js';
export const ProxyAgent = undefined;
`;

/** Modules that become empty for every package. Comments name their callers. */
const EMPTY: ReadonlySet<string> = new Set([
  // express loads it for `express.json()` and similar. No server of Countersign calls these.
  'body-parser',
  // client-node's models, which only `makeApiClient` calls.
  './gen/index.js',
  // client-node's proxies: kube/client/kubeconfig.ts refuses `proxy-url`.
  'hpagent',
  'socks',
  'socks-proxy-agent',
]);

/** Modules that become empty for one package. */
const EMPTY_OF: ReadonlyMap<string, string> = new Map([
  // prom-client loads it for exemplars, which no series of Countersign has.
  ['@opentelemetry/api', 'prom-client'],
  // commander starts executable files as commands. Countersign has no such commands.
  ['node:child_process', 'commander'],
]);

/** Media types that a server of Countersign sends. */
const MEDIA_TYPES = ['application/json', 'application/octet-stream', 'text/html', 'text/plain'];

/** Reads mime-db, which express uses for charsets, and omits the other 2,500 types. */
function mediaTypes(): OnLoadResult {
  const all = JSON.parse(readFileSync(require.resolve('mime-db/db.json'), 'utf8')) as object;
  const kept = Object.entries(all).filter(([type]) => MEDIA_TYPES.includes(type));
  return { contents: JSON.stringify(Object.fromEntries(kept)), loader: 'json' };
}

export const narrowPackages: Plugin = {
  name: 'narrow-packages',
  setup: (bundle) => {
    // Countersign uses only its kubeconfigs. Its index loads 5 MB of models.
    bundle.onResolve({ filter: /^@kubernetes\/client-node$/ }, () => ({
      path: join(CLIENT_NODE, 'config.js'),
    }));
    bundle.onResolve({ filter: /^/ }, ({ path, importer }) => {
      const isEmpty = EMPTY.has(path)
        ? importer.includes('/node_modules/')
        : importer.includes(`/node_modules/${EMPTY_OF.get(path) ?? ' '}/`);
      return isEmpty ? { path, namespace: 'empty' } : undefined;
    });
    bundle.onResolve({ filter: /\/oidc_auth\.js$/ }, ({ path, importer }) =>
      importer.endsWith('/config.js') ? { path: OIDC_STAND_IN } : { path: join(CLIENT_NODE, path) },
    );
    bundle.onResolve({ filter: /^undici$/ }, ({ path }) => ({ path, namespace: 'undici' }));
    bundle.onLoad({ filter: /^/, namespace: 'undici' }, () => ({
      contents: UNDICI,
      resolveDir: import.meta.dirname,
    }));
    bundle.onLoad({ filter: /^/, namespace: 'empty' }, () => ({
      contents: 'module.exports = {};',
    }));
    bundle.onLoad({ filter: /\/mime-db\/db\.json$/ }, mediaTypes);
  },
};
