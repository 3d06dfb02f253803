// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { presentedValue } from '#acme/issuing/index.ts';
import type { AcmeSession } from '#acme/issuing/session.ts';
import { chooseSolver } from '#acme/orders/index.ts';
import type { ChallengeType, OfferedChallenge, OrderAuthorization } from '#acme/orders/status.ts';
import { challengeTypeOf, needsSolver, type AcmeSigner } from '#api/acme/acme-signer.ts';
import type { ChallengeSpec } from '#api/acme/challenge.ts';
import { ACME_GROUP, ACME_VERSION, CLEAN_UP_FINALIZER, ORDER_UID_LABEL } from '#api/acme/names.ts';
import type { Order } from '#api/acme/order.ts';
import { quote, quoteList } from '#base/quote.ts';
import * as messages from '../messages.ts';

/** Body of the POST. The API server adds the other metadata. */
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
 * Returns the Challenge that proves one name of an Order, by the signer's most specific solver.
 *
 * @returns the reason for none if no solver fits
 */
export function newChallenge(
  order: Order,
  signer: AcmeSigner,
  session: AcmeSession,
  authorization: OrderAuthorization,
): ChallengeBody | { readonly noSolver: string } {
  const { name, wildcard = false, url } = authorization;
  const offered = presentable(authorization);
  const labels = order.metadata.labels ?? {};
  const types = offered.map(({ type }) => type);
  const toProve = { name, wildcard, offered: types, labels };
  const solver = chooseSolver(signer.spec.acme.solvers, toProve);
  const type = solver && challengeTypeOf(solver);
  const challenge = offered.find((each) => each.type === type);
  if (solver === undefined || type === undefined || challenge === undefined)
    return { noSolver: noSolver(signer, authorization) };
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
      authorizationURL: url,
      url: challenge.url,
      type,
      dnsName: name,
      wildcard,
      ...proofOf(session, type, challenge),
      solver: solver.name,
    },
  };
}

/** Returns the challenges that can be presented. Only a permanent record needs no token. */
function presentable({ offered = [] }: OrderAuthorization): readonly OfferedChallenge[] {
  return offered.filter(({ type, token }) => token !== undefined || type === 'dns-persist-01');
}

/** Returns the token and the value to present. A permanent record has neither. */
function proofOf(
  session: AcmeSession,
  type: ChallengeType,
  { token }: OfferedChallenge,
): Pick<ChallengeSpec, 'token' | 'key'> {
  const key = presentedValue(session, type, { token });
  if (type === 'dns-persist-01' || token === undefined || key === undefined) return {};
  return { token, key };
}

function ownedBy({ apiVersion, kind, metadata: { name, uid } }: Order): object {
  return { apiVersion, kind, name, uid, controller: true };
}

/** Longest prefix of an object name that leaves room for a hyphen and the digest. */
const MAX_PREFIX = 253 - 11;

/**
 * Returns one name for each authorization of each Order, so that the API server rejects a second
 * Challenge.
 */
function challengeName({ metadata: { name, uid } }: Order, url: string): string {
  const digest = createHash('sha256').update(`${uid} ${url}`).digest('hex').slice(0, 10);
  return `${name.slice(0, MAX_PREFIX).replace(/[-.]+$/, '')}-${digest}`;
}

function noSolver(
  signer: AcmeSigner,
  { name, wildcard = false, offered = [] }: OrderAuthorization,
): string {
  const types = quoteList(offered.map(({ type }) => type));
  const what = quote(wildcard ? `*.${name}` : name);
  return messages.noSolver(signer.kind, signer.metadata.name, what, types);
}
