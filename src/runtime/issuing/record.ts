// SPDX-License-Identifier: Apache-2.0
/** What the machine records in the ledger. Without one, none of this is computed. */
import type { KubeObject } from '../../api/object/object.ts';
import { decodePemAll } from '../../pki/der/pem.ts';
import { fingerprint } from '../../pki/x509/certificate.ts';
import type { AskedFacts, ProvenBy } from '../recording/asked.ts';
import type { LeafRecord } from '../recording/leaf-record.ts';
import type { RequestOutcome } from '../requests/outcome.ts';
import type { IssuedChain, IssuingCa } from './issuing-ca.ts';
import type { RequestKindInit } from './request-kind.ts';

/** A request, its signer and what allows it. */
interface Judged<T, S> {
  readonly request: T;
  readonly signer: S;
  readonly rule?: string | undefined;
  readonly proven?: ProvenBy | undefined;
}

/** The record of an issued chain's leaf; nothing where there is no ledger. */
export function recordOf<T extends KubeObject, S>(
  { component, askedOf }: Pick<RequestKindInit<T, S, never>, 'component' | 'askedOf'>,
  { request, signer, rule, proven, issuing }: Judged<T, S> & { readonly issuing: IssuingCa<T> },
  { chain }: IssuedChain,
): LeafRecord | undefined {
  if (component.recorder === undefined) return undefined;
  const [leaf = new Uint8Array(), issuer] = decodePemAll(chain, 'CERTIFICATE');
  const asked = askedOf(request, signer);
  const decision =
    rule === undefined && proven === undefined
      ? asked.decision
      : { ...asked.decision, ...(rule === undefined ? {} : { rule }), ...proven };
  const all: AskedFacts = { ...asked, decision };
  return component.recorder.leaf(all, leaf, caOf(issuing, issuer));
}

/** A CA of ours is known by its fingerprint; of others the chain shows the next certificate. */
function caOf(
  { identity }: Pick<IssuingCa<never>, 'identity'>,
  issuer: Uint8Array | undefined,
): string | undefined {
  if (/^sha256:[0-9a-f]{64}$/.test(identity)) return identity;
  return issuer === undefined ? undefined : fingerprint(issuer);
}

/**
 * Records an end without a certificate, before it is written.
 *
 * @throws SignerError LEDGER_UNAVAILABLE in the mode `required` while the ledger is away
 */
export async function recordEnd<T extends KubeObject, S>(
  { component, askedOf }: Pick<RequestKindInit<T, S, never>, 'component' | 'askedOf'>,
  { request, signer }: Judged<T, S>,
  { outcome, reason, message }: RequestOutcome,
): Promise<void> {
  if (component.recorder === undefined) return;
  const kind = outcome === 'denied' ? 'denied' : 'failed';
  await component.recorder.ended(kind, askedOf(request, signer), { reason, message });
}
