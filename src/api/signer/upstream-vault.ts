// SPDX-License-Identifier: Apache-2.0
/** Servers of Vault or OpenBao, as an installation lists them. */
import { usageError } from '#base/errors.ts';
import { MAX_VAULT_SERVER } from './cluster-signer-limits.ts';

/** A secrets engine of Vault or OpenBao, and the way to log in. */
export interface VaultPlace {
  /** `https://<host>[:<port>]`. The installation lists it. */
  readonly server: string;
  /** PEM: the trust anchors of the server's certificate. If absent, those of Node. */
  readonly caBundle?: string;
  /** Namespace of Vault Enterprise or OpenBao, with the secrets engine and the auth method. */
  readonly namespace?: string;
  /** Path of the secrets engine. */
  readonly mount: string;
  /** Login by a token of the component's ServiceAccount. */
  readonly auth: {
    /** Path of the auth method `kubernetes` or `jwt`, after `auth/`. */
    readonly mount: string;
    readonly role: string;
  };
}

/** Scheme, host and port in lower case, so that equal servers are equal texts. */
export const VAULT_SERVER = /^https:\/\/[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:[1-9][0-9]{0,4})?$/;

/** Segments of a path. None is `.` or `..`, and none needs escaping in a URL. */
export const VAULT_PATH = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*(\/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$/;

/** One segment: the name of a role or an issuer. */
export const VAULT_NAME = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*$/;

/**
 * API group and resource of the permission to name a secrets engine in a ClusterSigner. No object
 * has this resource: RBAC alone knows it. Its name is `<server>/[<namespace>/]<mount>`.
 */
export const VAULT_ENGINES = { group: 'countersign.dev', plural: 'vaultengines', verb: 'use' };

/**
 * Checks a server, which ends up in arguments and in the audience of a token.
 *
 * @throws SignerError USAGE (`fail`)
 */
export function checkVaultServer(text: string): void {
  if (text.length <= MAX_VAULT_SERVER && VAULT_SERVER.test(text)) return;
  throw usageError(
    `"${text.slice(0, 80)}" is not a server of Vault; write https://<host>[:<port>] in lower case and without a path, such as https://vault.example.com:8200`,
  );
}

/**
 * Returns one text for all spellings of a secrets engine: with or without the default port, and
 * with its namespace in the field or in the path, where Vault reads it as well. Other spellings do
 * not pass {@link VAULT_SERVER} and {@link VAULT_PATH}.
 */
export function engineOf({
  server,
  namespace,
  mount,
}: Pick<VaultPlace, 'server' | 'namespace' | 'mount'>): string {
  // A port or an address out of range fails with the first call.
  const origin = URL.canParse(server) ? new URL(server).origin : server;
  return [origin, namespace, mount].filter((part) => part !== undefined).join('/');
}
