// SPDX-License-Identifier: Apache-2.0
import { keyOf, type Secret } from '../../api/object/object.ts';
import type { Authority, OpenAuthority } from '../../authorities/contract.ts';
import { SignerError, attempt } from '../../errors.ts';
import type { Clock } from '../../ports.ts';
import { materialOf } from './usable-authority.ts';

/** CAs that were opened, by the Secrets that they came from. Each holds a private key. */
export interface OpenedSecrets {
  /**
   * Opened once for each version of a Secret, and again for a while if that failed.
   *
   * @throws SignerError (`authority`) why it cannot be used
   */
  readonly open: (secret: Secret) => Authority;
  /** The CA of this very Secret that was signed with last, whatever it holds by now. */
  readonly last: (secret: Secret) => Authority | undefined;
  readonly signedWith: (secret: Secret, authority: Authority) => void;
  /** Keeps nothing of a Secret that is gone, or that nobody is served from any more. */
  readonly forget: (key: string) => void;
  readonly retain: (keys: ReadonlySet<string>) => void;
}

interface Opened {
  readonly version: string;
  readonly result: Authority | SignerError;
  readonly at: number;
}

/** A CA that cannot be used is looked at again after this: time heals what is not valid yet. */
const OPEN_AGAIN_MS = 10_000;

export function createOpenedSecrets(open: OpenAuthority, clock: Clock): OpenedSecrets {
  const opened = new Map<string, Opened>();
  const used = new Map<string, { readonly uid: string; readonly authority: Authority }>();

  function reopened(key: string, version: string, secret: Secret): Opened {
    const at = clock();
    const made = { version, at, result: attempt(() => open(materialOf(secret), at)) };
    opened.set(key, made);
    return made;
  }

  function forget(key: string): void {
    opened.delete(key);
    used.delete(key);
  }

  return {
    open: (secret) => {
      const key = keyOf(secret.metadata);
      const version = `${secret.metadata.uid}/${secret.metadata.resourceVersion}`;
      const before = opened.get(key);
      const current = before?.version === version && !isStale(before, clock());
      const { result } = current ? before : reopened(key, version, secret);
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

/** What failed may depend on the time: the CA's own, or that of a certificate above it. */
function isStale({ result, at }: Opened, now: number): boolean {
  return result instanceof SignerError && Math.abs(now - at) >= OPEN_AGAIN_MS;
}
