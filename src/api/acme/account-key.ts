// SPDX-License-Identifier: Apache-2.0
/** The Secret of an account key, and what people ask of it by annotations of its signer. */
import type { KubeObject, Secret } from '../object/object.ts';
import { parseTime } from '../object/time.ts';
import type { SecretReference } from '../signer/cluster-signer.ts';
import { ACTIVATED_AT, PREPARE_AT, ROTATE_AT } from '../signer/rotation-annotations.ts';
import type { AcmeSigner } from './acme-signer.ts';

/** Where the key of an account is in its Secret, as PEM; cert-manager's Secrets have the same. */
export const ACCOUNT_KEY = 'tls.key';

/** The Secret of the account's key. Never in a namespace of the signer's choice: in its own, or in that of the keys. */
export function accountSecretOf(
  { metadata, spec }: AcmeSigner,
  keysNamespace: string,
): SecretReference {
  return {
    namespace: metadata.namespace ?? keysNamespace,
    name: spec.acme.accountKey.secret.name,
  };
}

/** What is to be done about a key now. */
export interface KeyWishes {
  /** A new key is to stand beside the one in use. */
  readonly prepare: boolean;
  /** The account is to change to the new key. */
  readonly rollOver: boolean;
  /** When more is asked for, in milliseconds. */
  readonly lookAt: number | undefined;
}

/**
 * Reads `countersign.dev/prepare-at` and `rotate-at` of a signer. A key that came into use later satisfies both, so they
 * may stay. What is no time asks for nothing.
 *
 * @param now - milliseconds, by the API server's clock
 */
export function keyWishesOf(
  { metadata: { annotations = {} } }: KubeObject,
  secret: Secret,
  now: number,
): KeyWishes {
  const { creationTimestamp, annotations: ofSecret = {} } = secret.metadata;
  const activatedAt = parseTime(ofSecret[ACTIVATED_AT] ?? '');
  const since = Number.isNaN(activatedAt) ? parseTime(creationTimestamp) : activatedAt;
  const [prepareAt = NaN, rotateAt = NaN] = [PREPARE_AT, ROTATE_AT].map((name) =>
    parseTime(annotations[name] ?? ''),
  );
  const isDue = (time: number): boolean => time > since && time <= now;
  const later = [prepareAt, rotateAt].filter((time) => time > Math.max(since, now));
  return {
    prepare: isDue(prepareAt) || isDue(rotateAt),
    rollOver: isDue(rotateAt),
    lookAt: later.length === 0 ? undefined : Math.min(...later),
  };
}
