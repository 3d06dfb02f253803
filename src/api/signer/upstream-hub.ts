// SPDX-License-Identifier: Apache-2.0
/** Names that a hub and the members of its fleet derive in the same way. */

/** Namespace of the members' ServiceAccounts on the hub. */
export const FLEET_NAMESPACE = 'countersign-fleet';

/** Annotation of this namespace: the signer of the hub whose members it has, and of no other. */
export const FLEET_SIGNER = 'countersign.dev/fleet-signer';

/** Name of a cluster: a DNS label. The name of its ServiceAccount on the hub is the same. */
export const CLUSTER_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/**
 * Longest life of a token of a member: 90 days. A stolen one can renew itself until its account
 * is deleted.
 */
export const MAX_HUB_TOKEN_SECONDS = 7_776_000;

/** Keys of the Secret with the address of the hub, its CA, and the member's token. */
export const HUB_KEYS = { server: 'server', ca: 'ca.crt', token: 'token' } as const;

/**
 * Returns the name of the Secret with the credential of a member. It is beside the CA Secret, so
 * that roles can name it.
 */
export function hubSecretName(caSecret: string): string {
  return `${caSecret}-hub`;
}

/**
 * Last characters of the names of requests. RBAC cannot restrict `get` to a prefix, so the role of
 * a member lists all names that its requests can have.
 */
const SLOTS = '0123456789abcdefghijklmnopqrstuv';

/** The account of a member on the hub. */
interface MemberAccount {
  readonly cluster: string;
  /** Namespace of the accounts of all members. */
  readonly namespace: string;
}

/** Returns all names that the requests of a member can have. */
export function memberRequestNames(account: MemberAccount): readonly string[] {
  return Array.from(SLOTS, (_, number) => memberRequestName(account, number));
}

/**
 * Returns the name of a request. It has the namespace, because a second fleet of the hub may have a
 * member of the same name. Neither part has a dot.
 *
 * @param number - derived from the key, so that one key has one request
 */
export function memberRequestName({ cluster, namespace }: MemberAccount, number: number): string {
  return `countersign-${cluster}.${namespace}-${SLOTS[number % SLOTS.length] ?? ''}`;
}

/** Returns the username of a member on the hub. */
export function memberUsername(namespace: string, cluster: string): string {
  return `system:serviceaccount:${namespace}:${cluster}`;
}
