// SPDX-License-Identifier: Apache-2.0
/** Which component may append what. Pure. */
import { isDerivedName } from '../../api/signer/signer.ts';
import { SignerError } from '../../errors.ts';
import type { LedgerRecord } from '../../ledger/index.ts';
import { quote } from '../../quote.ts';

type Kind = LedgerRecord['kind'];

const BY_SIGNING: readonly Kind[] = ['issued', 'denied', 'failed', 'result', 'gap'];

/** What each component has to record; a component that is not here records nothing. */
const KINDS: Readonly<Record<string, readonly Kind[]>> = {
  approver: ['approved', 'denied', 'gap'],
  signer: BY_SIGNING,
  'pcr-issuer': BY_SIGNING,
  'certificate-request': BY_SIGNING,
  acme: BY_SIGNING,
  authority: ['authority', 'gap'],
};

/** The components that may append, and about which signers: made from the manifests. */
export interface AppendGrants {
  /** Component to signer names. */
  readonly signers: ReadonlyMap<string, ReadonlySet<string>>;
  /** Whether those that serve Signers of namespaces may append about their derived names. */
  readonly namespacedSigners: boolean;
}

/** A component may append about a signer: `signer=example.com/workload`. */
export interface AppendGrant {
  readonly component: string;
  readonly signerName: string;
}

/** The grants of a list of flags. */
export function grantsOf(listed: readonly AppendGrant[], namespacedSigners: boolean): AppendGrants {
  const byComponent = Map.groupBy(listed, ({ component }) => component);
  const signers = new Map(
    [...byComponent].map(([component, found]) => [
      component,
      new Set(found.map(({ signerName }) => signerName)),
    ]),
  );
  return { signers, namespacedSigners };
}

/**
 * Why a component may not append a record; nothing if it may. What it says of itself must be what its token says, and its
 * keys are its own: it can take nobody else's.
 *
 * @param component - as its token was checked
 */
export function refusalOf(
  grants: AppendGrants,
  component: string,
  record: LedgerRecord,
): SignerError | undefined {
  const kinds = KINDS[component] ?? [];
  if (!kinds.includes(record.kind)) return refused(`${component} records no ${record.kind}`);
  if (record.component.name !== component)
    return refused(`${component} appends as another component`);
  const own = `${component}/`;
  const keys = record.kind === 'result' ? [record.key, record.of] : [record.key];
  if (!keys.every((key) => key.startsWith(own))) {
    return refused(`a key of ${component} must begin with ${own}`);
  }
  if (!('signer' in record) || mayAbout(grants, component, record.signer.name)) return undefined;
  return refused(
    `${component} is not listed for signer ${quote(record.signer.name)}; add --appender=${component}=<signer name> to the ledger if it serves it`,
  );
}

function mayAbout(grants: AppendGrants, component: string, signerName: string): boolean {
  if (grants.signers.get(component)?.has(signerName) === true) return true;
  // ACME's signers of namespaces have names of their own.
  return grants.namespacedSigners && component !== 'acme' && isDerivedName(signerName);
}

function refused(why: string): SignerError {
  const message = `the ledger does not take a record: ${why}`;
  return new SignerError({ code: 'LEDGER_REFUSED', disposition: 'wait', message });
}
