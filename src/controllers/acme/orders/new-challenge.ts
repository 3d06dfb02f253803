// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { presentedValue } from '../../../acme-issuing/index.ts';
import type { AcmeSession } from '../../../acme-issuing/session.ts';
import { chooseSolver } from '../../../acme-orders/index.ts';
import type { AuthorizationRecord } from '../../../acme-orders/record.ts';
import {
  ACME_GROUP,
  ACME_VERSION,
  challengeTypeOf,
  CLEAN_UP_FINALIZER,
  needsSolver,
  ORDER_UID_LABEL,
  type AcmeSigner,
  type ChallengeSpec,
  type Order,
} from '../../../api/acme/index.ts';
import { quote, quoteList } from '../../../quote.ts';

/** The body of a POST: the API server fills in the rest of the metadata. */
export interface ChallengeBody {
  readonly apiVersion: string;
  readonly kind: 'Challenge';
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly ownerReferences: readonly object[];
  };
  readonly spec: ChallengeSpec;
}

/**
 * The Challenge that proves one name of an Order, by the most specific solver of the signer.
 *
 * @returns why there is none, where no solver fits
 */
export function newChallenge(
  order: Order,
  signer: AcmeSigner,
  session: AcmeSession,
  authorization: AuthorizationRecord,
): ChallengeBody | { readonly noSolver: string } {
  const { name, wildcard, url } = authorization;
  // What has no token cannot be presented, but for a record that stays.
  const offered = authorization.offered.filter(
    ({ type, token }) => token !== undefined || type === 'dns-persist-01',
  );
  const solvers = signer.spec.acme.solvers.map((each) => ({
    ...{ name: each.name, type: challengeTypeOf(each), selector: each.selector, solver: each },
  }));
  const labels = order.metadata.labels ?? {};
  const types = offered.map(({ type }) => type);
  const chosen = chooseSolver(solvers, { name, wildcard, offered: types, labels });
  const settings = solvers.find((each) => each.name === chosen?.name);
  const challenge = offered.find(({ type }) => type === chosen?.type);
  if (settings === undefined || challenge === undefined)
    return { noSolver: noSolver(signer, authorization) };
  const { type, solver } = settings;
  const key = presentedValue(session, type, challenge);
  const { token } = challenge;
  return {
    apiVersion: `${ACME_GROUP}/${ACME_VERSION}`,
    kind: 'Challenge',
    metadata: {
      namespace: order.metadata.namespace ?? '',
      name: challengeName(order, url),
      labels: { [ORDER_UID_LABEL]: order.metadata.uid },
      ...(needsSolver(solver) ? { finalizers: [CLEAN_UP_FINALIZER] } : {}),
      ownerReferences: [ownedBy(order)],
    },
    spec: {
      signerRef: order.spec.signerRef,
      orderRef: { name: order.metadata.name, uid: order.metadata.uid },
      ...{ authorizationURL: url, url: challenge.url, type, dnsName: name, wildcard },
      ...(type === 'dns-persist-01' || token === undefined ? {} : { token }),
      ...(type === 'dns-persist-01' || key === undefined ? {} : { key }),
      solver: solver.name,
    },
  };
}

function ownedBy({ apiVersion, kind, metadata: { name, uid } }: Order): object {
  return { apiVersion, kind, name, uid, controller: true };
}

/** The longest name of an object, without a hyphen and what follows it. */
const MAX_PREFIX = 253 - 11;

/** One name for one authorization of one Order: made twice, the second is refused by the API server. */
function challengeName({ metadata: { name, uid } }: Order, url: string): string {
  const digest = createHash('sha256').update(`${uid} ${url}`).digest('hex').slice(0, 10);
  return `${name.slice(0, MAX_PREFIX).replace(/[-.]+$/, '')}-${digest}`;
}

function noSolver(signer: AcmeSigner, { name, wildcard, offered }: AuthorizationRecord): string {
  const types = quoteList(offered.map(({ type }) => type));
  const what = quote(wildcard ? `*.${name}` : name);
  return `no solver of ${signer.kind} ${signer.metadata.name} fits ${what}, for which the ACME server offers ${types}; add one to spec.acme.solvers`;
}
