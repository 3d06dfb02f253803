// SPDX-License-Identifier: Apache-2.0
/** Explanations of the objects that the component acme creates. Pure. */
import { quantity } from '#base/quantity.ts';
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import type { Challenge } from '#api/acme/challenge.ts';
import { CA_UNUSABLE, WRONG_CERTIFICATE, type Order } from '#api/acme/order.ts';
import { findCondition } from '#api/request/conditions.ts';
import { quote, shellWord } from '#base/quote.ts';
import { conditionMoments, reasonText } from './conditions.ts';
import type { Explanation, Diagnosis, TimelineEntry } from './explanation.ts';
import { describeLeaf } from './leaf.ts';
import { describeCommand, signerText } from './signer-view.ts';

const REASONS = 'docs/reference/acme.md says what each reason means, and what to do';

/**
 * Explains an Order: one attempt to get the certificate of a request.
 *
 * @param parts - the explanations of its Challenges
 */
export function explainOrder(order: Order, parts: readonly Explanation[]): Diagnosis {
  const { metadata, spec, status } = order;
  const names = spec.identifiers.map(({ value }) => value);
  const made: TimelineEntry = {
    at: metadata.creationTimestamp,
    what: `attempt ${spec.attempt} for ${spec.requestRef.kind} ${spec.requestRef.name}, with ${quantity(names.length, 'name')}: ${quote(names.slice(0, 3).join(', '))}${names.length > 3 ? ' and others' : ''}`,
  };
  const timeline = [made, ...endedAt(status.finalAt, `the Order is ${status.state ?? 'queued'}`)];
  const base = { timeline, ...(parts.length === 0 ? {} : { parts }) };
  if (status.state === 'valid' && status.certificate !== undefined) {
    const { what, moments } = describeLeaf(status.certificate);
    return {
      timeline: [...timeline, ...moments],
      state: 'Issued',
      remediation: [],
      summary: `it has its certificate: ${what}`,
      ...renewalOf(order),
    };
  }
  return {
    ...base,
    ...(endOf(order) ?? waiting(status, `the Order is ${status.state ?? 'queued'}`)),
  };
}

/** Returns the diagnosis of an Order that failed. Undefined for any other. */
function endOf({
  metadata,
  status,
}: Order): Pick<Diagnosis, 'state' | 'summary' | 'remediation'> | undefined {
  const { state } = status;
  if (state !== 'failed' && state !== 'invalid') return undefined;
  const remediation =
    state === 'failed'
      ? ['correct what is named, and make a new request: no other attempt is made']
      : [
          nextOrderText(status.reason),
          `kubectl delete order.acme.countersign.dev ${shellWord(metadata.name)} -n ${metadata.namespace ?? ''}`,
        ];
  return {
    state: 'Failed',
    summary: `it ended as ${state}: ${whyOf(status)}`,
    remediation: [...remediation, REASONS],
  };
}

/** Returns when another Order follows one that is invalid, and what to do before deleting it. */
function nextOrderText(reason: string | undefined): string {
  if (reason === WRONG_CERTIFICATE)
    return 'no other Order follows until its signer changes, because it would end alike; once the CA is corrected, delete the Order:';
  if (reason === CA_UNUSABLE)
    return 'the signer tries the CA again after 1 to 24 hours, or when it changes; once the CA is corrected, delete the Order:';
  return 'another Order follows by itself, after a minute at first and up to six hours later; to have it at once:';
}

/** Explains a Challenge: the proof of one name. */
export function explainChallenge({ metadata, spec, status }: Challenge): Diagnosis {
  const { type, dnsName, wildcard, solver } = spec;
  const name = quote(`${wildcard ? '*.' : ''}${dnsName}`);
  const timeline: readonly TimelineEntry[] = [
    {
      at: metadata.creationTimestamp,
      what: `the Challenge requires a proof of ${name} by ${type}, with solver ${solver}`,
    },
    ...endedAt(status.presentedAt, `it is presented${atText(status.solver?.at)}`),
    ...endedAt(status.finalAt, `the authorization is ${status.state ?? 'pending'}`),
  ];
  return { timeline, ...(proofOf(name, status) ?? progressOf(name, status)) };
}

/** Returns the diagnosis of a final authorization. Undefined while it is pending. */
function proofOf(
  name: string,
  status: Challenge['status'],
): Pick<Diagnosis, 'state' | 'summary' | 'remediation'> | undefined {
  const { state = 'pending' } = status;
  if (state === 'pending' || state === 'processing') return undefined;
  if (state === 'valid') return { state: 'Ready', summary: `${name} is proved`, remediation: [] };
  const summary = `${name} is not proved: the authorization is ${state}: ${whyOf(status)}`;
  return { state: 'Failed', summary, remediation: [REASONS] };
}

function progressOf(
  name: string,
  status: Challenge['status'],
): Pick<Diagnosis, 'state' | 'summary' | 'next' | 'remediation'> {
  const { processing = false, presented = false, solver: report } = status;
  if (!processing && status.reason === undefined) {
    const summary = `${name} waits for a slot: a bounded number of Challenges is proved at once`;
    return { state: 'WaitingForComponent', summary, remediation: ['countersign check'] };
  }
  // A fault of the solver takes precedence over the last check of the name.
  const kept = !presented && report?.reason !== undefined ? report : status;
  return waiting(kept, presented ? `${name} is presented` : `${name} waits`);
}

/** Explains an AcmeClusterSigner or AcmeSigner, and its account. */
export function explainAcmeSigner(signer: AcmeSigner): Diagnosis {
  const { metadata, spec, status } = signer;
  const ready = findCondition(status.conditions, 'Ready');
  const isReady = ready?.status === 'True';
  const why = ready === undefined ? 'acme has not looked at it yet' : reasonText(ready);
  const account = status.account?.url === undefined ? '' : `, with account ${status.account.url}`;
  return {
    state: isReady ? 'Ready' : 'NotReady',
    summary: isReady
      ? `${signerText(signer)} serves ${spec.signerName} by ${spec.acme.server}${account}`
      : `${signerText(signer)} does not serve ${spec.signerName}: ${why}`,
    timeline: [
      { at: metadata.creationTimestamp, what: `${signerText(signer)} is created` },
      ...conditionMoments(status.conditions),
    ],
    remediation: isReady ? [] : [describeCommand(signer), REASONS, 'countersign check'],
  };
}

/**
 * Adds the latest Order to the diagnosis of a request that waits for acme.
 *
 * @param order - the explanation of that Order. Undefined if there is none, or none that the user
 *   may see
 */
export function withOrder(diagnosis: Diagnosis, order: Explanation | undefined): Diagnosis {
  if (diagnosis.state !== 'WaitingForComponent' || order === undefined) return diagnosis;
  const { state: found } = order;
  const isKept = found === 'WaitingForComponent' || found === 'WaitingForSigner';
  const state = isKept ? found : 'WaitingForServer';
  const next = order.next === undefined ? {} : { next: order.next };
  const { summary } = order;
  return { ...diagnosis, ...next, state, summary: `${order.object}: ${summary}`, parts: [order] };
}

interface Waits {
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly nextAttemptAt?: string | undefined;
}

/** Reasons of an Order whose signer does not exist, or is not Ready (acme/acme/context.ts). */
const OF_SIGNER: ReadonlySet<string | undefined> = new Set(['SignerNotFound', 'SignerNotReady']);

function waiting(
  status: Waits,
  where: string,
): Pick<Diagnosis, 'state' | 'summary' | 'next' | 'remediation'> {
  const { reason, nextAttemptAt: at } = status;
  return {
    state: OF_SIGNER.has(reason) ? 'WaitingForSigner' : 'WaitingForServer',
    summary: reason === undefined ? where : `${where}: ${whyOf(status)}`,
    ...(at === undefined ? {} : { next: { what: 'it is tried again', at } }),
    remediation: reason === undefined ? ['countersign check   # is acme running?'] : [REASONS],
  };
}

function whyOf({ reason, message = '' }: Waits): string {
  return reason === undefined
    ? 'no reason is given'
    : reasonText({ type: reason, status: 'Unknown', message });
}

function endedAt(at: string | undefined, what: string): readonly TimelineEntry[] {
  return at === undefined ? [] : [{ at, what }];
}

function atText(at: string | undefined): string {
  return at === undefined ? '' : ` at ${at}`;
}

function renewalOf({ status: { renewal } }: Order): Pick<Diagnosis, 'next'> {
  const at = renewal?.renewAt;
  return at === undefined ? {} : { next: { what: 'its CA wants it renewed', at } };
}
