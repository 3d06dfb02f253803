// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import type { Cluster, KubeConfig } from '@kubernetes/client-node';
import { SignerError, messageOf } from '#base/errors.ts';
import { present } from '#base/object-keys.ts';
import type { Clock } from '#base/ports.ts';
import { isRecord, membersOf } from '#base/record.ts';
import type { Connection, Credentials, TlsMaterial } from './connection.ts';
import { cacheCredentials } from './credentials-cache.ts';
import { createExecPlugin, type PluginEnvironment, type ExecPlugin } from './exec-plugin.ts';
import type { KubeconfigFile } from './kubeconfig-files.ts';
import { clusterFault, serverUrl, userFault } from './kubeconfig-rules.ts';

/** The choice of a kubeconfig. */
export interface ConnectionInit {
  /**
   * Path of a kubeconfig, or the paths of KUBECONFIG if it has several. Default: in-cluster.
   */
  readonly kubeconfig?: string | readonly string[] | undefined;
  readonly context?: string | undefined;
  readonly clock: Clock;
  /** Variables that exec plugins inherit. Default: none. */
  readonly environment?: PluginEnvironment;
  /** Called each time that credentials are unreadable and the previous ones stay in use. */
  readonly onUnreadable?: () => void;
}

/**
 * Reads a kubeconfig through the official client (contexts, exec plugins, in-cluster files).
 *
 * @throws SignerError KUBE_CONFIG (`wait`) that names the file and the fault
 */
export async function loadConnection(init: ConnectionInit): Promise<Connection> {
  let source = await load(init);
  return {
    server: source.server,
    ...cacheCredentials(async (reload) => {
      // An exec plugin runs again before its token expires only if the whole config is read again.
      if (reload) source = await load(init);
      return readCredentials(source, init.clock).catch((error: unknown) => {
        throw configError(init, source.config, error);
      });
    }, init),
  };
}

/**
 * Returns the contexts of a kubeconfig, none if it is undefined.
 *
 * @throws Error of the file
 */
export async function contextNames(
  kubeconfig: ConnectionInit['kubeconfig'],
): Promise<readonly string[]> {
  const file = await readFiles(kubeconfig);
  return (file?.contexts ?? []).map(({ name }) => name);
}

/** A pod has no kubeconfig, and does not load the reader of YAML. */
async function readFiles(
  kubeconfig: ConnectionInit['kubeconfig'],
): Promise<KubeconfigFile | undefined> {
  if (kubeconfig === undefined) return undefined;
  const { readKubeconfigs } = await import('./kubeconfig-files.ts');
  return readKubeconfigs(typeof kubeconfig === 'string' ? [kubeconfig] : kubeconfig);
}

interface Source {
  readonly config: KubeConfig;
  readonly server: string;
  /** `users[].user.tokenFile`, which client-node 2.0.1 drops when it reads a kubeconfig. */
  readonly tokenFile?: string;
  readonly plugin?: ExecPlugin;
}

async function load(init: ConnectionInit): Promise<Source> {
  // Loaded lazily: it takes a quarter of a second, which `countersign policy test` does not need.
  const { KubeConfig: Loader } = await import('@kubernetes/client-node');
  const config = new Loader();
  try {
    const file = await readFiles(init.kubeconfig);
    if (file === undefined) {
      loadDefault(config);
      return { config, server: requireCluster(config).server };
    }
    // JSON is YAML. The plugin runs here, so that the client sees no `exec`.
    const text = JSON.stringify(file, (key, value: unknown) =>
      key === 'exec' ? undefined : value,
    );
    config.loadFromString(text, { onInvalidEntry: 'filter' });
    if (init.context !== undefined) config.setCurrentContext(init.context);
    return sourceIn(file, config, init);
  } catch (error) {
    throw configError(init, config, error);
  }
}

/** @throws Error for what the client would ignore silently, and what kubectl refuses */
function sourceIn(
  file: KubeconfigFile,
  config: KubeConfig,
  { clock, environment }: ConnectionInit,
): Source {
  const ofContext = `of its ${contextOf(config)}`;
  const { name: clusterName } = requireCluster(config);
  const userName = config.getCurrentUser()?.name;
  const cluster = membersOf(file.clusters.find(({ name }) => name === clusterName)?.['cluster']);
  const user = membersOf(file.users.find(({ name }) => name === userName)?.['user']);
  const [faultOfCluster, faultOfUser] = [clusterFault(cluster), userFault(user)];
  if (faultOfCluster !== undefined) throw new Error(`the cluster ${ofContext} ${faultOfCluster}`);
  if (faultOfUser !== undefined) throw new Error(`the user ${ofContext} ${faultOfUser}`);
  const server = serverUrl(cluster);
  if (server === undefined) {
    throw new Error(
      `the server of the cluster ${ofContext} has no scheme or is no URL: write one such as https://192.0.2.1:6443`,
    );
  }
  const { tokenFile, exec } = user;
  if (typeof tokenFile === 'string' && tokenFile !== '') return { config, server, tokenFile };
  if (isRecord(exec)) return { config, server, plugin: createExecPlugin(exec, clock, environment) };
  requireCredentials(config);
  return { config, server };
}

/** @throws Error if the official client finds nothing and invents an API server without TLS */
function loadDefault(config: KubeConfig): void {
  config.loadFromDefault();
  const isMadeUp =
    config.getCurrentContext() === 'loaded-context' &&
    config.getCurrentCluster()?.server === 'http://localhost:8080';
  if (isMadeUp) throw new Error('there is none, and this is not a pod with a ServiceAccount');
}

/** @throws Error if there is no context, or it names a cluster that is incomplete or missing */
function requireCluster(config: KubeConfig): Cluster {
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error(`it has no ${contextOf(config)} with a cluster`);
  return cluster;
}

/** @throws Error if every request would come from `system:anonymous` */
function requireCredentials(config: KubeConfig): void {
  const user = config.getCurrentUser();
  const { certData, certFile, token, username, authProvider } = membersOf(user);
  const means = [certData, certFile, token, username, authProvider];
  if (means.some((each) => each !== undefined && each !== null)) return;
  throw new Error(
    `its ${contextOf(config)} has no user with credentials${user === null ? '' : ` ("${user.name}" has none that are supported)`}`,
  );
}

function contextOf(config: KubeConfig): string {
  // Its type leaves out undefined, which a file without a context has.
  const name = config.getCurrentContext() as string | undefined;
  return name === undefined || name === '' ? 'current-context' : `context "${name}"`;
}

/**
 * @throws Error if there are no credentials, such as while a token file is written in place. The
 *   API server treats a call without a token as one of `system:anonymous`. It answers 403, which no
 *   client retries as it does a 401.
 */
async function readCredentials(
  { config, tokenFile, plugin }: Source,
  clock: Clock,
): Promise<Credentials> {
  requireCurrentIdToken(config, clock);
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const authorization =
    tokenFile === undefined ? authorizationOf(options) : await bearerOf(tokenFile);
  const tls = tlsOf(options);
  if (authorization === undefined && tls.cert === undefined && plugin !== undefined) {
    const { token, cert, key } = await plugin();
    return {
      tls: { ...tls, ...present('cert', cert), ...present('key', key) },
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
  }
  if (authorization === undefined && tls.cert === undefined) {
    throw new Error('its user has neither a token nor a client certificate at the moment');
  }
  return { tls, ...(authorization === undefined ? {} : { authorization }) };
}

/**
 * @throws Error for an ID token that has expired. client-node 2.0.1 fails to refresh one: it passes
 *   a string in place of a URL to openid-client 6, and an object in place of a Response.
 */
function requireCurrentIdToken(config: KubeConfig, clock: Clock): void {
  const user = config.getCurrentUser();
  const provider: unknown = user?.authProvider;
  if (membersOf(provider)['name'] !== 'oidc') return;
  const idToken = membersOf(membersOf(provider)['config'])['id-token'];
  const expiry = typeof idToken === 'string' ? expiryOf(idToken) : undefined;
  if (expiry === undefined || clock() <= expiry) return;
  throw new Error(
    `the id-token of its user "${user?.name}" expired at ${new Date(expiry).toISOString()}, and auth-provider "oidc" is not refreshed: log in again, or use an exec plugin such as kubectl oidc-login`,
  );
}

/** Returns the `exp` of a JWT in milliseconds, or undefined if it has none that can be read. */
function expiryOf(jwt: string): number | undefined {
  const [, payload = ''] = jwt.split('.');
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const seconds = membersOf(claims)['exp'];
    return typeof seconds === 'number' ? seconds * 1000 : undefined;
  } catch {
    return undefined;
  }
}

async function bearerOf(tokenFile: string): Promise<string | undefined> {
  const token = (await readFile(tokenFile, 'utf8')).trim();
  return token === '' ? undefined : `Bearer ${token}`;
}

function authorizationOf(options: RequestOptions): string | undefined {
  const header = membersOf(options.headers)['Authorization'];
  // A newline at the end of a token file would make the header invalid.
  if (typeof header === 'string') return header.trim();
  return typeof options.auth === 'string'
    ? `Basic ${Buffer.from(options.auth).toString('base64')}`
    : undefined;
}

function tlsOf(options: RequestOptions): TlsMaterial {
  const text = (value: unknown): string | undefined =>
    typeof value === 'string' || Buffer.isBuffer(value) ? value.toString() : undefined;
  const material = {
    ca: text(options.ca),
    cert: text(options.cert),
    key: text(options.key),
    servername: options.servername,
    rejectUnauthorized: options.rejectUnauthorized,
  };
  return Object.fromEntries(Object.entries(material).filter(([, value]) => value !== undefined));
}

function configError(init: ConnectionInit, config: KubeConfig, error: unknown): SignerError {
  return new SignerError({
    code: 'KUBE_CONFIG',
    disposition: 'wait',
    // Omits the cause: parsers quote the text around an error, which may be a secret here.
    message: `${sourceOf(init, config)} cannot be used: ${redactedReason(error)}`,
  });
}

function sourceOf({ kubeconfig }: ConnectionInit, config: KubeConfig): string {
  if (typeof kubeconfig === 'string') return `the kubeconfig ${kubeconfig}`;
  return config.getContextObject('inClusterContext') === null
    ? 'the default kubeconfig (KUBECONFIG, else ~/.kube/config)'
    : 'the ServiceAccount of this pod';
}

/** The message of a plugin may be long. */
const MAX_CONFIG_REASON = 300;

/** Returns the first line of the message: what follows may quote the file. */
function redactedReason(error: unknown): string {
  // A JSON error quotes the text in its first line. Only the output of an exec plugin is JSON here.
  if (error instanceof SyntaxError) return 'the output of its exec plugin is not JSON';
  const [line = ''] = messageOf(error).split('\n', 1);
  return line.slice(0, MAX_CONFIG_REASON);
}
