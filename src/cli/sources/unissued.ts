// SPDX-License-Identifier: Apache-2.0
/** Notes on requests without a certificate. Pure. */
import { findCondition, hasTrueCondition, type Condition } from '#api/request/conditions.ts';
import { printable, shellWord } from '#base/quote.ts';

/** Conditions that end a request without a certificate. `InvalidRequest` is cert-manager's. */
const REFUSALS = ['Denied', 'Failed', 'InvalidRequest'] as const;

/** Reasons of cert-manager's `Ready` that end a request without a certificate. */
const REFUSED_READY: readonly (string | undefined)[] = ['Failed', 'Denied'];

/**
 * Returns the note on a request without a certificate: the condition that ended it, or that it
 * waits, and the command that shows the cause.
 *
 * @param source - `kind/name` of the request
 * @param explained - `kind/name` of the object to explain
 * @param namespace - of that object, if it is namespaced
 */
export function unissuedNote(
  source: string,
  conditions: readonly Condition[] | undefined,
  explained: string,
  namespace?: string,
): string {
  const where = namespace === undefined ? '' : ` -n ${shellWord(namespace)}`;
  const next = `countersign explain ${shellWord(explained)}${where} shows the cause`;
  const refusal = refusalOf(conditions);
  if (refusal === undefined) return `${source} has no certificate yet: it still waits; ${next}`;
  return `${source} has no certificate: it is ${refusal}; ${next}`;
}

/** Returns the condition with its reason and message, or undefined while the request waits. */
function refusalOf(conditions: readonly Condition[] | undefined): string | undefined {
  const type = REFUSALS.find((each) => hasTrueCondition(conditions, each));
  const ready = findCondition(conditions, 'Ready');
  const isReadyRefused = ready?.status === 'False' && REFUSED_READY.includes(ready.reason);
  const found = type === undefined ? undefined : findCondition(conditions, type);
  const { type: name, reason = '', message = '' } = found ?? (isReadyRefused ? ready : EMPTY);
  if (name === '') return undefined;
  const details = [...new Set([name === 'Ready' ? reason : name, reason, message])];
  return printable(details.filter((each) => each !== '').join(': '));
}

const EMPTY: Pick<Condition, 'type' | 'reason' | 'message'> = { type: '' };
