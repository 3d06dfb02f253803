// SPDX-License-Identifier: Apache-2.0
/** The Secret of an account key, and the annotations by which users request a new key. */
import type { KubeObject, Secret } from '../object/object.ts';
import { parseTime } from '../object/time.ts';
import type { SecretReference } from '../signer/cluster-signer.ts';
import { ACTIVATED_AT, PREPARE_AT, ROTATE_AT } from '../signer/rotation-annotations.ts';
import type { AcmeSigner } from './acme-signer.ts';

/** Key of the Secret's data that holds the account key, in PEM. cert-manager uses the same key. */
export const ACCOUNT_KEY = 'tls.key';

/**
 * Returns the Secret of the account's key. The signer cannot choose its namespace: it is the
 * signer's own, or that of the keys.
 */
export function accountSecretOf(
  { metadata, spec }: AcmeSigner,
  keysNamespace: string,
): SecretReference {
  return {
    namespace: metadata.namespace ?? keysNamespace,
    name: spec.acme.accountKey.secret.name,
  };
}

/** The changes that are due for a key. */
export interface KeyRequests {
  /** Create a new key beside the one in use. */
  readonly prepare: boolean;
  /** Change the account to the new key. */
  readonly rollOver: boolean;
  /** Time of the next change, in milliseconds. */
  readonly lookAt: number | undefined;
}

/**
 * Reads `countersign.dev/prepare-at` and `rotate-at` of a signer. A key that came into use later
 * satisfies both, so users need not remove them. An invalid time requests nothing.
 *
 * @param now - milliseconds, by the API server's clock
 */
export function keyRequestsOf(
  { metadata: { annotations = {} } }: KubeObject,
  secret: Secret,
  now: number,
): KeyRequests {
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
