// SPDX-License-Identifier: Apache-2.0
/**
 * The verdict on a ledger: its records beside the objects of the API server and the logs of the
 * components.
 */
import type { LedgerRecord } from '#ledger/index.ts';
import { hasTrueCondition } from '#api/request/conditions.ts';
import type { AnyRequest, Wanted } from '../lab/wanted.ts';
import { leafOf, serialOf } from '../oracle/leaf.ts';
import type { Signatures } from '../oracle/signatures.ts';
import type { LedgerTrial } from './lab.ts';

/** What a verdict on the ledger rests on. */
export interface LedgerEvidence {
  readonly mode: LedgerTrial['mode'];
  readonly wanted: readonly Wanted[];
  /**
   * UID → the request as it is in the end. Nobody removes one, and none changes its certificate
   * (the API's validation).
   */
  readonly objects: ReadonlyMap<string, AnyRequest>;
  readonly records: readonly LedgerRecord[];
  /** UID → serial numbers, by component, as its own log says. */
  readonly signatures: ReadonlyMap<string, Signatures>;
  /** The same, of the processes that still run. */
  readonly signaturesOfRunning: Signatures;
  /** Component → writes of a leaf that the API server has refused for good, as the proxy saw it. */
  readonly refused: ReadonlyMap<string, number>;
  /** Component → what it counts as lost itself, while its process runs. */
  readonly lost: ReadonlyMap<string, number>;
  /** Fingerprints of the CAs in the statuses of signers. */
  readonly authorities: readonly string[];
}

type Issued = Extract<LedgerRecord, { readonly kind: 'issued' }>;

/** What does not hold. */
export function faultsOfLedger(evidence: LedgerEvidence): readonly string[] {
  const { mode } = evidence;
  return [
    ...recordedTwice(evidence),
    ...(mode === 'required' ? missing(evidence) : miscounted(evidence)),
    ...authoritiesMissing(evidence),
  ];
}

function issuedOf({ records }: LedgerEvidence): readonly Issued[] {
  return records.filter((each): each is Issued => each.kind === 'issued');
}

/** What a record says, without when: no two say the same. */
function recordedTwice({ records }: LedgerEvidence): readonly string[] {
  const seen = new Set<string>();
  const faults: string[] = [];
  for (const { at, ...record } of records) {
    const { key, component, ...said } = record;
    const what =
      record.kind === 'issued'
        ? record.certificate
        : JSON.stringify([component.name, said, record.kind === 'gap' && [key, at]]);
    if (seen.has(what)) faults.push(`recorded twice: ${key}`);
    seen.add(what);
  }
  return faults;
}

/**
 * Of `required`: each certificate and each approval that an object carries has its record, and
 * mostly a result.
 */
function missing(evidence: LedgerEvidence): readonly string[] {
  const { wanted, objects, records, signaturesOfRunning } = evidence;
  const issued = new Map(issuedOf(evidence).map((each) => [each.certificate, each]));
  const approved = new Set(
    records.flatMap((each) => (each.kind === 'approved' ? [each.request.uid] : [])),
  );
  const delivered = new Set(
    records.flatMap((each) =>
      each.kind === 'result' && each.outcome === 'delivered' ? [each.of] : [],
    ),
  );
  return wanted.flatMap(({ kind, name, uid }) => {
    const object = objects.get(uid);
    const leaf = object && leafOf(kind, object);
    if (object === undefined || leaf === undefined) return [];
    const faults: string[] = [];
    const record = issued.get(leaf.raw.toString('base64'));
    if (record === undefined) faults.push(`${name}: its certificate has no record`);
    else if (record.request.uid !== uid) faults.push(`${name}: its record is of another request`);
    else if (
      signaturesOfRunning.get(uid)?.includes(serialOf(leaf)) === true &&
      !delivered.has(record.key)
    )
      faults.push(`${name}: who signed it runs, and has recorded no delivery`);
    if (
      kind === 'csr' &&
      hasTrueCondition(object.status?.conditions, 'Approved') &&
      !approved.has(uid)
    )
      faults.push(`${name}: its approval has no record`);
    return faults;
  });
}

/** Of `best-effort`: what is not there is counted, neither more nor less. */
function miscounted(evidence: LedgerEvidence): readonly string[] {
  const { wanted, records, signatures, refused, lost } = evidence;
  const uids = new Set(wanted.map(({ uid }) => uid));
  const own = new Map<string, LedgerRecord[]>();
  for (const each of records) {
    const of = own.get(each.component.name) ?? [];
    of.push(each);
    own.set(each.component.name, of);
  }
  const csrs = wanted.filter(({ kind }) => kind === 'csr').length;
  return ['signer', 'pcr-issuer', 'approver'].flatMap((component) => {
    const all = own.get(component) ?? [];
    const kept = all.filter(({ kind, key }) => kind !== 'gap' && uids.has(key.split('/')[1] ?? ''));
    const inGaps = all.reduce((sum, each) => sum + (each.kind === 'gap' ? each.lost : 0), 0);
    const signed = [...(signatures.get(component) ?? [])].reduce(
      (sum, [uid, serials]) => sum + (uids.has(uid) ? serials.length : 0),
      0,
    );
    // A leaf has a record and a result, and one more where the API server has refused it meanwhile.
    const made = component === 'approver' ? csrs : 2 * signed + (refused.get(component) ?? 0);
    const faults: string[] = [];
    if (kept.length + inGaps !== made)
      faults.push(`${component}: ${kept.length} records and ${inGaps} lost, of ${made}`);
    if (lost.get(component) !== inGaps)
      faults.push(`${component}: it counts ${lost.get(component)} lost, and its gaps ${inGaps}`);
    return faults;
  });
}

/** CAs are recorded in both modes, when `authority` starts again at the latest. */
function authoritiesMissing({ records, authorities }: LedgerEvidence): readonly string[] {
  const recorded = new Set(records.flatMap((each) => (each.kind === 'authority' ? [each.ca] : [])));
  return authorities
    .filter((print) => !recorded.has(print))
    .map((print) => `the CA ${print} has no record`);
}
