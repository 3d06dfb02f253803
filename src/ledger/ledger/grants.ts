// SPDX-License-Identifier: Apache-2.0
/** The records that each component may append. Pure. */
import { checkSignerName } from '#api/signer/signer-name.ts';
import { isDerivedName } from '#api/signer/signer.ts';
import { SignerError, usageError } from '#base/errors.ts';
import type { LedgerRecord } from '../index.ts';
import * as messages from './messages.ts';

type Kind = LedgerRecord['kind'];

const BY_SIGNING: readonly Kind[] = ['issued', 'denied', 'failed', 'result', 'gap'];

/** Kinds of records of each component. A component without an entry records nothing. */
const KINDS: Readonly<Record<string, readonly Kind[]>> = {
  approver: ['approved', 'denied', 'gap'],
  signer: BY_SIGNING,
  'pcr-issuer': BY_SIGNING,
  'certificate-request': BY_SIGNING,
  'external-signer': BY_SIGNING,
  acme: BY_SIGNING,
  authority: ['authority', 'gap'],
};

/** The components that may append. */
const APPENDING_COMPONENTS: readonly string[] = Object.keys(KINDS);

/** The components that may append, and about which signers. The manifests provide them. */
export interface AppendGrants {
  /** Signer names by component. */
  readonly signers: ReadonlyMap<string, ReadonlySet<string>>;
  /** Whether components that serve namespaced Signers may append about their derived names. */
  readonly namespacedSigners: boolean;
}

/** A component's permission to append about a signer: `signer=example.com/workload`. */
export interface AppendGrant {
  readonly component: string;
  readonly signerName: string;
}

/**
 * Reads `<component>=<signer name>`.
 *
 * @throws SignerError USAGE, SIGNER_NAME_INVALID
 */
export function parseGrant(text: string): AppendGrant {
  const [, component = '', signerName = ''] = /^([a-z-]+)=(.+)$/.exec(text) ?? [];
  if (!APPENDING_COMPONENTS.includes(component)) {
    const message = messages.invalidGrant(text, APPENDING_COMPONENTS);
    throw usageError(message);
  }
  checkSignerName(signerName);
  return { component, signerName };
}

/** Returns the grants of a list of flags. */
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
 * Returns the error if a component may not append a record. The record's component must match the
 * token. Its keys must begin with the component's name, so that a component cannot use the keys of
 * another.
 * @param component - as its token was checked
 */
export function refusalOf(
  grants: AppendGrants,
  component: string,
  record: LedgerRecord,
): SignerError | undefined {
  const kinds = KINDS[component] ?? [];
  if (!kinds.includes(record.kind))
    return refused(messages.kindNotRecorded(component, record.kind));
  if (record.component.name !== component) return refused(messages.appendsAsAnother(component));
  const own = `${component}/`;
  const keys = record.kind === 'result' ? [record.key, record.of] : [record.key];
  if (!keys.every((key) => key.startsWith(own))) {
    return refused(messages.foreignKey(component, own));
  }
  if (!('signer' in record) || mayAbout(grants, component, record.signer.name)) return undefined;
  return refused(messages.signerNotListed(component, record.signer.name));
}

function mayAbout(grants: AppendGrants, component: string, signerName: string): boolean {
  if (grants.signers.get(component)?.has(signerName) === true) return true;
  // ACME uses its own names for namespaced signers.
  return grants.namespacedSigners && component !== 'acme' && isDerivedName(signerName);
}

function refused(why: string): SignerError {
  const message = messages.notTaken(why);
  return new SignerError({ code: 'LEDGER_REFUSED', disposition: 'wait', message });
}
