// SPDX-License-Identifier: Apache-2.0
import { DURATION } from '#api/signer/rotation-annotations.ts';
import type { Secret } from '#api/object/object.ts';
import { FILLED_BY } from '#api/signer/own-tls.ts';
import type { AuthorityFacts } from '#ca/custody/contract.ts';
import { SignerError } from '#base/errors.ts';
import { leafCertificateOf } from '#ca/rotation/leaf-certificate.ts';
import { leafRenewal, type LeafReason, type DesiredLeaf } from '#ca/rotation/leaf-renewal.ts';
import { materialOf } from '#requests/ca/usable-authority.ts';
import type { ObservedSecret } from '../decide/inspect.ts';
import * as messages from '../messages.ts';

/** Inputs for one component's Secret, and the CA that would sign for it. */
export interface LeafSnapshot {
  readonly name: string;
  readonly secret: ObservedSecret;
  /** True if a replica of the component is live. */
  readonly runs: boolean;
  readonly signerName: string;
  readonly desired: DesiredLeaf;
  /** The CA that may sign now, or the error. */
  readonly authority: AuthorityFacts | SignerError;
  /**
   * Time in milliseconds at which readers of the ConfigMap have the anchor of the CA's leaves, or
   * undefined while it is not in the ConfigMap.
   */
  readonly readFrom: number | undefined;
  /** Milliseconds, by the API server's clock. */
  readonly now: number;
}

export type LeafPlan =
  | { readonly kind: 'keep'; readonly lookAt: number | undefined }
  | { readonly kind: 'issue'; readonly secret: Secret; readonly due: LeafReason }
  /** `why` is for users: what to do, or the cause of the delay. */
  | { readonly kind: 'wait'; readonly why: string; readonly lookAt: number | undefined };

/** Types that Kubernetes itself does not interpret, unlike a token. */
const TYPES = ['Opaque', 'kubernetes.io/tls'];

/** Decides one serving certificate. Synchronous and total. */
export function decideLeaf(snapshot: LeafSnapshot): LeafPlan {
  const { name, secret, runs, signerName } = snapshot;
  // A failed read shows nothing. The watch reports when it works again.
  if (secret.kind === 'unknown') return { kind: 'keep', lookAt: undefined };
  if (secret.kind === 'missing') {
    // The installer creates no Secret for a component that is switched off.
    return runs ? wait(messages.servingSecretMissing(name)) : { kind: 'keep', lookAt: undefined };
  }
  const { metadata, type = 'Opaque', immutable } = secret.secret;
  if (metadata.annotations?.[FILLED_BY] !== signerName) {
    return wait(messages.servingSecretNotGranted(name, signerName));
  }
  if (!TYPES.includes(type)) return wait(messages.servingSecretType(name, type));
  if (immutable === true) return wait(messages.servingSecretImmutable(name));
  return rotate(snapshot, secret.secret);
}

function rotate(snapshot: LeafSnapshot, secret: Secret): LeafPlan {
  const { authority, desired, now, readFrom, name } = snapshot;
  if (authority instanceof SignerError) {
    return wait(messages.caCannotSign(snapshot.signerName, authority.message));
  }
  const { certificate, key } = materialOf(secret);
  const duration = secret.metadata.annotations?.[DURATION];
  const held = leafCertificateOf({ certificate, key, duration }, authority);
  const { due, lookAt } = leafRenewal({
    held,
    desired,
    authorityNotAfter: authority.notAfter,
    now,
  });
  if (due === undefined) return { kind: 'keep', lookAt };
  if (readFrom === undefined || now < readFrom) {
    const why = messages.servingSecretWaits(name);
    return { kind: 'wait', why, lookAt: readFrom };
  }
  return { kind: 'issue', secret, due };
}

function wait(why: string): LeafPlan {
  return { kind: 'wait', why, lookAt: undefined };
}
