// SPDX-License-Identifier: Apache-2.0
/**
 * Rejects what kubectl rejects in the cluster and the user that a context names: client-go,
 * clientcmd/validation.go, and TLSConfigFor of transport.go. Each fault is the end of a sentence
 * about the cluster or the user, with the remedy.
 */
import { isRecord } from '#base/record.ts';
import type { Members } from './kubeconfig-files.ts';

/** The apiVersions of exec plugins: client-go, plugin/pkg/client/auth/exec. */
const EXEC_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
const INTERACTIVE_MODES = ['Never', 'IfAvailable', 'Always'];

/** Returns what kubectl would reject in a cluster, as the end of a sentence, or undefined. */
export function clusterFault(cluster: Members): string | undefined {
  if (has(cluster, 'proxy-url')) return 'sets proxy-url, which is not supported: remove it';
  const pair = pairFault(cluster, ['certificate-authority', 'certificate-authority-data']);
  if (pair !== undefined) return pair;
  if (isInsecure(cluster) && hasCa(cluster)) {
    return 'sets insecure-skip-tls-verify beside a certificate-authority, which would count for nothing: remove one of them';
  }
  return undefined;
}

/** Two members of a user of which kubectl accepts only one. */
const USER_PAIRS = [
  ['client-certificate', 'client-certificate-data'],
  ['client-key', 'client-key-data'],
  ['token', 'username'],
  ['token', 'password'],
  ['exec', 'auth-provider'],
] as const;

/**
 * Returns what kubectl or this client would reject in a user, as the end of a sentence, or
 * undefined.
 */
export function userFault(user: Members): string | undefined {
  const impersonation = ['as', 'as-uid', 'as-groups', 'as-user-extra'];
  const found = impersonation.find((member) => has(user, member));
  // The client would ignore it silently, and act as the mightier user who may impersonate.
  if (found !== undefined) return `sets "${found}", which is not supported: remove it`;
  for (const pair of USER_PAIRS) {
    const fault = pairFault(user, pair);
    if (fault !== undefined) return fault;
  }
  if (hasCertificate(user) && !has(user, 'client-key') && !has(user, 'client-key-data')) {
    return 'sets a client certificate without its key: add client-key or client-key-data';
  }
  return isRecord(user['exec']) ? execFault(user['exec']) : undefined;
}

function execFault(exec: Members): string | undefined {
  if (!has(exec, 'command')) return 'sets exec without a command: add the plugin as command';
  if (!EXEC_VERSIONS.includes(String(exec['apiVersion']))) {
    return `sets exec without a known apiVersion: write ${EXEC_VERSIONS.join(' or ')}, as the plugin supports it`;
  }
  if (!INTERACTIVE_MODES.includes(interactiveMode(exec))) {
    return `sets exec without a known interactiveMode: write ${INTERACTIVE_MODES.join(', ')}`;
  }
  return undefined;
}

/** Returns `interactiveMode`, which v1beta1 defaults (clientcmd/api/v1/defaults.go). */
export function interactiveMode({ apiVersion, interactiveMode: mode }: Members): string {
  const isBeta = apiVersion === 'client.authentication.k8s.io/v1beta1';
  return typeof mode === 'string' && mode !== '' ? mode : isBeta ? 'IfAvailable' : '';
}

/**
 * Returns the URL of the API server without its last slash, or undefined without a scheme. kubectl
 * calls `host:port` by http and without credentials (client-go, DirectClientConfig.ClientConfig).
 */
export function serverUrl({ server }: Members): string | undefined {
  const url = String(server).replace(/\/+$/, '');
  return /^https?:\/\/[^/]/i.test(url) && URL.canParse(url) ? url : undefined;
}

function pairFault(members: Members, [one, other]: readonly [string, string]): string | undefined {
  if (!has(members, one) || !has(members, other)) return undefined;
  return `sets ${one} and ${other}: remove one of them`;
}

function has(members: Members, member: string): boolean {
  const value = members[member];
  if (Array.isArray(value)) return value.length > 0;
  return isRecord(value) ? Object.keys(value).length > 0 : Boolean(value);
}

function hasCa(cluster: Members): boolean {
  return has(cluster, 'certificate-authority') || has(cluster, 'certificate-authority-data');
}

function hasCertificate(user: Members): boolean {
  return has(user, 'client-certificate') || has(user, 'client-certificate-data');
}

function isInsecure(cluster: Members): boolean {
  return cluster['insecure-skip-tls-verify'] === true;
}
