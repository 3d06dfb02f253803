// SPDX-License-Identifier: Apache-2.0
/** The journeys of what the component acme makes. Pure. */
import type { AcmeSigner, Challenge, Order } from '../api/acme/index.ts';
import { findCondition } from '../api/request/conditions.ts';
import { quote, shellWord } from '../quote.ts';
import { conditionMoments, reasonText } from './conditions.ts';
import type { Explanation, Journey, TimelineEntry } from './explanation.ts';
import { describeLeaf } from './leaf.ts';
import { describeCommand, signerText } from './signer-view.ts';

const REASONS = 'docs/reference/acme.md says what each reason means, and what to do';

/**
 * An attempt to get the certificate of one request.
 *
 * @param parts - the explanations of its Challenges
 */
export function explainOrder(order: Order, parts: readonly Explanation[]): Journey {
  const { metadata, spec, status } = order;
  const names = spec.identifiers.map(({ value }) => value);
  const made: TimelineEntry = {
    at: metadata.creationTimestamp,
    what: `attempt ${spec.attempt} for ${spec.requestRef.kind} ${spec.requestRef.name}, with ${names.length} names: ${quote(names.slice(0, 3).join(', '))}${names.length > 3 ? ' and others' : ''}`,
  };
  const timeline = [made, ...endedAt(status.finalAt, `the Order is ${status.state ?? 'queued'}`)];
  const base = { timeline, ...(parts.length === 0 ? {} : { parts }) };
  if (status.state === 'valid' && status.certificate !== undefined) {
    const { what, moments } = describeLeaf(status.certificate);
    return {
      ...{ timeline: [...timeline, ...moments], state: 'Issued', todo: [] },
      summary: `it has its certificate: ${what}`,
      ...renewalOf(order),
    };
  }
  return {
    ...base,
    ...(endOf(order) ?? waiting(status, `the Order is ${status.state ?? 'queued'}`)),
  };
}

/** An Order that came to nothing. */
function endOf({
  metadata,
  status,
}: Order): Pick<Journey, 'state' | 'summary' | 'todo'> | undefined {
  const { state } = status;
  if (state !== 'failed' && state !== 'invalid') return undefined;
  const todo =
    state === 'failed'
      ? ['correct what is named, and make a new request: no other attempt is made']
      : [
          'another Order follows by itself, after a minute at first and up to six hours later; to have it at once:',
          `kubectl delete order.acme.countersign.dev ${shellWord(metadata.name)} -n ${metadata.namespace ?? ''}`,
        ];
  return {
    state: 'Failed',
    summary: `it ended as ${state}: ${whyOf(status)}`,
    todo: [...todo, REASONS],
  };
}

/** The proof of one name. */
export function explainChallenge({ metadata, spec, status }: Challenge): Journey {
  const { type, dnsName, wildcard, solver } = spec;
  const name = quote(`${wildcard ? '*.' : ''}${dnsName}`);
  const timeline: readonly TimelineEntry[] = [
    {
      at: metadata.creationTimestamp,
      what: `${name} is to be proved by ${type}, with solver ${solver}`,
    },
    ...endedAt(status.presentedAt, `it is presented${atText(status.solver?.at)}`),
    ...endedAt(status.finalAt, `the authorization is ${status.state ?? 'pending'}`),
  ];
  return { timeline, ...(proofOf(name, status) ?? progressOf(name, status)) };
}

/** What the server says of it, once that is final. */
function proofOf(
  name: string,
  status: Challenge['status'],
): Pick<Journey, 'state' | 'summary' | 'todo'> | undefined {
  const { state = 'pending' } = status;
  if (state === 'pending' || state === 'processing') return undefined;
  if (state === 'valid') return { state: 'Ready', summary: `${name} is proved`, todo: [] };
  const summary = `${name} is not proved: the authorization is ${state}: ${whyOf(status)}`;
  return { state: 'Failed', summary, todo: [REASONS] };
}

function progressOf(
  name: string,
  status: Challenge['status'],
): Pick<Journey, 'state' | 'summary' | 'next' | 'todo'> {
  const { processing = false, presented = false, solver: report } = status;
  if (!processing && status.reason === undefined) {
    const summary = `${name} waits for a slot: a bounded number of Challenges is proved at once`;
    return { state: 'WaitsForComponent', summary, todo: ['countersign check'] };
  }
  // What keeps the solver from presenting comes before what a look at the name says.
  const kept = !presented && report?.reason !== undefined ? report : status;
  return waiting(kept, presented ? `${name} is presented` : `${name} waits`);
}

/** An AcmeClusterSigner or AcmeSigner, and its account. */
export function explainAcmeSigner(signer: AcmeSigner): Journey {
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
    todo: isReady ? [] : [describeCommand(signer), REASONS, 'countersign check'],
  };
}

/**
 * A request of an ACME signer that waits for acme: what its newest Order says.
 *
 * @param order - the explanation of that; undefined: there is none, or none that the user may see
 */
export function withOrder(journey: Journey, order: Explanation | undefined): Journey {
  if (journey.state !== 'WaitsForComponent' || order === undefined) return journey;
  const state = order.state === 'WaitsForComponent' ? order.state : 'WaitsForServer';
  const next = order.next === undefined ? {} : { next: order.next };
  const { summary } = order;
  return { ...journey, ...next, state, summary: `${order.object}: ${summary}`, parts: [order] };
}

interface Waits {
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly nextAttemptAt?: string | undefined;
}

function waiting(
  status: Waits,
  where: string,
): Pick<Journey, 'state' | 'summary' | 'next' | 'todo'> {
  const { reason, nextAttemptAt: at } = status;
  return {
    state: 'WaitsForServer',
    summary: reason === undefined ? where : `${where}: ${whyOf(status)}`,
    ...(at === undefined ? {} : { next: { what: 'it is tried again', at } }),
    todo: reason === undefined ? ['countersign check   # is acme running?'] : [REASONS],
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

function renewalOf({ status: { renewal } }: Order): Pick<Journey, 'next'> {
  const at = renewal?.renewAt;
  return at === undefined ? {} : { next: { what: 'its CA wants it renewed', at } };
}
