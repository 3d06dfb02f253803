// SPDX-License-Identifier: Apache-2.0
import { keyOf, type Secret } from '#api/object/object.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Authority, OpenAuthority } from '#ca/custody/contract.ts';
import { SignerError, attempt } from '#base/errors.ts';
import type { Clock } from '#base/ports.ts';
import { ownerOf, spending } from '#component/signers/deadline.ts';
import { maxSignaturesOf } from './namespaced-ca-limits.ts';
import { materialFor } from './usable-authority.ts';

/** The opened CAs, by the key of their Secret. Each holds a private key in memory. */
export interface OpenedSecrets {
  /**
   * Opens a CA once for each version of its Secret, again when a certificate of the Secret becomes
   * valid or expires, and a failed one again after 10 s. Users of a namespace may rewrite the
   * Secret of a Signer in a loop, so each opening is bounded and charged to the namespace's budget.
   *
   * @throws SignerError (`authority`) if the CA cannot be used
   * @throws EvaluationDeferred if the namespace has spent its budget
   */
  readonly open: (secret: Secret, signer: ClusterSigner) => Authority;
  /** Returns the CA that last signed from this Secret (by uid), whatever the Secret holds now. */
  readonly last: (secret: Secret) => Authority | undefined;
  /** Records the CA for `last`. */
  readonly signedWith: (secret: Secret, authority: Authority) => void;
  /** Drops the CAs of a deleted Secret. */
  readonly forget: (key: string) => void;
  /** Drops the CAs of all other Secrets, which no served signer uses. */
  readonly retain: (keys: ReadonlySet<string>) => void;
}

interface OpenedSecret {
  readonly version: string;
  readonly result: Authority | SignerError;
  readonly at: number;
}

/** Interval for opening a failed CA again, since it may only be not valid yet. */
const OPEN_AGAIN_MS = 10_000;

/** @param clock - the API server's time, by which certificates are judged */
export function createOpenedSecrets(open: OpenAuthority, clock: Clock): OpenedSecrets {
  const opened = new Map<string, OpenedSecret>();
  const used = new Map<string, { readonly uid: string; readonly authority: Authority }>();

  function reopened(version: string, secret: Secret, signer: ClusterSigner): OpenedSecret {
    const [key, at] = [keyOf(secret.metadata), clock()];
    const result = attempt(() =>
      spending(ownerOf(signer), 'spec.authority', () =>
        open(materialFor(secret, signer), at, maxSignaturesOf(signer)),
      ),
    );
    const made = { version, at, result };
    opened.set(key, made);
    return made;
  }

  function forget(key: string): void {
    opened.delete(key);
    used.delete(key);
  }

  return {
    open: (secret, signer) => {
      const key = keyOf(secret.metadata);
      const version = `${secret.metadata.uid}/${secret.metadata.resourceVersion}`;
      const before = opened.get(key);
      const current = before?.version === version && !isStale(before, clock());
      const { result } = current ? before : reopened(version, secret, signer);
      if (result instanceof SignerError) throw result;
      return result;
    },
    last: ({ metadata }) => {
      const before = used.get(keyOf(metadata));
      return before?.uid === metadata.uid ? before.authority : undefined;
    },
    signedWith: ({ metadata }, authority) => {
      used.set(keyOf(metadata), { uid: metadata.uid, authority });
    },
    forget,
    retain: (keys) => {
      for (const key of [...opened.keys(), ...used.keys()]) if (!keys.has(key)) forget(key);
    },
  };
}

/**
 * Reports whether to open the CA again. Errors expire, since they may depend on the validity of the
 * CA or of a certificate above it. An opened CA is used until another of its certificates may take
 * the place of one: `tls.crt` may hold the renewed certificate beside the expired one.
 */
function isStale({ result, at }: OpenedSecret, now: number): boolean {
  if (result instanceof SignerError) return Math.abs(now - at) >= OPEN_AGAIN_MS;
  return now >= result.facts.reopenAt;
}
