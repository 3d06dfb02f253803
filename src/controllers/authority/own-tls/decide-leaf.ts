// SPDX-License-Identifier: Apache-2.0
import { DURATION } from '../../../api/signer/rotation-annotations.ts';
import type { Secret } from '../../../api/object/object.ts';
import { FILLED_BY } from '../../../api/signer/own-tls.ts';
import type { AuthorityFacts } from '../../../authorities/contract.ts';
import { SignerError } from '../../../errors.ts';
import { leafCertificateOf } from '../../../rotation/leaf-certificate.ts';
import { leafRenewal, type LeafReason, type DesiredLeaf } from '../../../rotation/leaf-renewal.ts';
import { materialOf } from '../../../runtime/ca/usable-authority.ts';
import type { ObservedSecret } from '../decide/inspect.ts';

/** One component's Secret, and the CA that would sign for it. */
export interface LeafSnapshot {
  readonly name: string;
  readonly secret: ObservedSecret;
  readonly signerName: string;
  readonly desired: DesiredLeaf;
  /** The CA that may sign now, or why none may. */
  readonly authority: AuthorityFacts | SignerError;
  /**
   * When the readers of the ConfigMap have the anchor of the CA's leaves, in milliseconds; undefined while it
   * is not in the ConfigMap.
   */
  readonly readFrom: number | undefined;
  /** Milliseconds, by the API server's clock. */
  readonly now: number;
}

export type LeafPlan =
  | { readonly kind: 'keep'; readonly lookAt: number | undefined }
  | { readonly kind: 'issue'; readonly secret: Secret; readonly due: LeafReason }
  /** `why` is for people: what to do, or what it waits for. */
  | { readonly kind: 'wait'; readonly why: string; readonly lookAt: number | undefined };

/** Neither makes the Secret one that Kubernetes itself reads, such as a token. */
const TYPES = ['Opaque', 'kubernetes.io/tls'];

/** Decides one serving certificate. Synchronous and total. */
export function decideLeaf(snapshot: LeafSnapshot): LeafPlan {
  const { name, secret, signerName } = snapshot;
  // A failed read shows nothing: the watch reports when it works again.
  if (secret.kind === 'unknown') return { kind: 'keep', lookAt: undefined };
  if (secret.kind === 'missing') {
    return wait(`Secret ${name} does not exist; apply deploy/own-tls.yaml, which creates it empty`);
  }
  const { metadata, type = 'Opaque', immutable } = secret.secret;
  if (metadata.annotations?.[FILLED_BY] !== signerName) {
    return wait(
      `Secret ${name} may not be filled in by Countersign; its owner allows that with the annotation ${FILLED_BY}: ${signerName}`,
    );
  }
  if (!TYPES.includes(type))
    return wait(`Secret ${name} is of type ${type}; recreate it as Opaque`);
  if (immutable === true) return wait(`Secret ${name} is immutable; recreate it without immutable`);
  return rotate(snapshot, secret.secret);
}

function rotate(snapshot: LeafSnapshot, secret: Secret): LeafPlan {
  const { authority, desired, now, readFrom, name } = snapshot;
  if (authority instanceof SignerError) {
    return wait(`the CA of ${snapshot.signerName} cannot sign: ${authority.message}`);
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
    const why = `Secret ${name} waits until its CA has been in the ConfigMap for the propagation time`;
    return { kind: 'wait', why, lookAt: readFrom };
  }
  return { kind: 'issue', secret, due };
}

function wait(why: string): LeafPlan {
  return { kind: 'wait', why, lookAt: undefined };
}
