// SPDX-License-Identifier: Apache-2.0
/** Ledger records of answers. Without a ledger, none of this is computed. */
import type { KubeObject } from '#api/object/object.ts';
import { decodePemAll } from '#pki/der/pem.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { traced } from '#component/tracing.ts';
import type { RequestFacts, ProvenBy } from '../recording/request-record.ts';
import type { LeafRecord } from '../recording/leaf-record.ts';
import { appendBefore, type EndKind, type RecordingComponent } from '../recording/recorder.ts';
import type { RequestOutcome } from '../loop/outcome.ts';
import type { IssuedChain, IssuingCa } from './issuing-ca.ts';

/** The CA of a leaf, and the grounds for it besides the approver's statement. */
interface SignedBy {
  readonly ca: Pick<IssuingCa<never>, 'identity'>;
  /** The rule of the signer's spec, if rules have names. */
  readonly rule?: string | undefined;
  /** Proof of the leaf's names, if the ledger records it. */
  readonly proven?: ProvenBy | undefined;
}

/**
 * Returns the record of an issued chain's leaf, or undefined without a ledger. Sends nothing yet.
 */
export function recordOf(
  { recorder }: RecordingComponent,
  asked: RequestFacts,
  { ca: { identity }, rule, proven }: SignedBy,
  { chain }: IssuedChain,
): LeafRecord | undefined {
  if (recorder === undefined) return undefined;
  const [leaf = new Uint8Array(), issuer] = decodePemAll(chain, 'CERTIFICATE');
  const decision =
    rule === undefined && proven === undefined
      ? asked.decision
      : { ...asked.decision, ...(rule === undefined ? {} : { rule }), ...proven };
  return recorder.leaf({ ...asked, decision }, leaf, fingerprintOf(identity, issuer));
}

/**
 * Returns the fingerprint of the CA. Our own CAs are identified by it. Those of others are the next
 * certificate in the chain.
 */
function fingerprintOf(identity: string, issuer: Uint8Array | undefined): string | undefined {
  if (/^sha256:[0-9a-f]{64}$/.test(identity)) return identity;
  return issuer === undefined ? undefined : fingerprint(issuer);
}

/**
 * Records a leaf before it is delivered.
 *
 * @throws SignerError LEDGER_UNAVAILABLE in the mode `required` while the ledger is unavailable
 */
export async function appendRecord(
  component: Pick<RecordingComponent, 'tracing' | 'recorder' | 'concurrency'>,
  record: LeafRecord | undefined,
): Promise<void> {
  if (record === undefined || record.isKept) return;
  await appendBefore(component, () => traced(component, 'record', () => record.append()));
}

/**
 * Records an end without a certificate, before it is written.
 *
 * @param factsOf - returns the facts of the request
 * @throws SignerError LEDGER_UNAVAILABLE in the mode `required` while the ledger is unavailable
 */
export async function recordEnd<T extends KubeObject, S>(
  component: RecordingComponent,
  factsOf: (request: T, signer: S) => RequestFacts,
  { request, signer }: { readonly request: T; readonly signer: S },
  { outcome, reason, message }: RequestOutcome,
): Promise<void> {
  const { recorder } = component;
  if (recorder === undefined) return;
  const kind: EndKind = outcome === 'denied' ? 'denied' : 'failed';
  const asked = factsOf(request, signer);
  await appendBefore(component, () => recorder.ended(kind, asked, { reason, message }));
}
