// SPDX-License-Identifier: Apache-2.0
import { findAccount } from '../acme/accounts.ts';
import { mapAnswer, type Answer } from '../acme/answer.ts';
import { downloadPreferredChain } from '../acme/certificates.ts';
import {
  finalizeOrder,
  getAuthorization,
  getOrder,
  newOrder,
  type AcmeOrder,
} from '../acme/orders.ts';
import type { Authorization, Identifier } from '../acme/resources.ts';
import {
  afterAccount,
  afterAuthorization,
  afterDownload,
  afterFailedChallenge,
  afterOrder,
  afterWrongCertificate,
  type OrderAfter,
  type OrderBefore,
} from '../acme-orders/order-events.ts';
import type { OrderStep } from '../acme-orders/order-step.ts';
import type { AuthorizationRecord } from '../acme-orders/record.ts';
import { acceptChain, type AskedFor } from './accepted-chain.ts';
import type { AcmeSession } from './session.ts';

/** What an Order asks for. */
export interface OrderRequest extends AskedFor {
  /** DER of the PKCS#10 request. */
  readonly csr: Uint8Array;
  readonly profile?: string | undefined;
  /** RFC 9773 id of the certificate that is renewed. */
  readonly replaces?: string | undefined;
  readonly preferredChain?: string | undefined;
}

/** Steps of an Order that are a call to the server, or follow from an answer of it. */
export type OrderCall = Exclude<
  OrderStep,
  { readonly step: 'createChallenge' | 'cleanUp' | 'wait' | 'done' }
>;

/** Takes one step of an Order. It is one call, but for a download with alternate chains. */
export async function takeOrderStep(
  session: AcmeSession,
  request: OrderRequest,
  step: OrderCall,
  before: OrderBefore,
): Promise<OrderAfter> {
  const { server, account } = session;
  const { url = '' } = before.record;
  switch (step.step) {
    case 'newOrder':
      return afterOrder(before, 'newOrder', await makeOrder(session, request, step.replaces));
    case 'readOrder':
      return afterOrder(before, 'read', await getOrder(server, account, url));
    case 'finalize': {
      const order = { url, finalize: step.url };
      const answer = await finalizeOrder(server, account, order, request.csr);
      return afterOrder(before, 'finalize', answer);
    }
    case 'readAuthorization': {
      const answer = await getAuthorization(server, account, step.url);
      return afterAuthorization(
        before,
        mapAnswer(answer, (found) => recordOf(step.url, found)),
      );
    }
    case 'readAccount':
      return afterAccount(before, await findAccount(server, account.key));
    case 'download':
      return download(session, request, step.url, before);
    case 'giveUp':
      return afterFailedChallenge(before, step.challenge);
  }
}

async function makeOrder(
  { server, account }: AcmeSession,
  { identifiers, profile, replaces }: OrderRequest,
  withReplaces: boolean,
): Promise<Answer<AcmeOrder>> {
  const directory = await server.directory();
  if (directory.kind !== 'ok') return directory;
  const asked = profile ?? profileOf(identifiers, directory.value.meta.profiles);
  return newOrder(server, account, {
    identifiers,
    ...(asked === undefined ? {} : { profile: asked }),
    ...(withReplaces && replaces !== undefined ? { replaces } : {}),
  });
}

/** Let's Encrypt gives addresses certificates of six days only. */
function profileOf(
  identifiers: readonly Identifier[],
  profiles: readonly string[],
): string | undefined {
  const hasAddress = identifiers.some(({ type }) => type === 'ip');
  return hasAddress && profiles.includes('shortlived') ? 'shortlived' : undefined;
}

function recordOf(
  url: string,
  { identifier, status, wildcard, challenges }: Authorization,
): { readonly authorization: AuthorizationRecord; readonly state: Authorization['status'] } {
  const offered = challenges.map(({ type, url: of, token }) => ({ type, url: of, token }));
  const wasValid = status === 'valid';
  const authorization = { url, name: identifier.value, wildcard, wasValid, offered };
  return { authorization, state: status };
}

async function download(
  { server, account }: AcmeSession,
  request: OrderRequest,
  url: string,
  before: OrderBefore,
): Promise<OrderAfter> {
  const { preferredChain } = request;
  const answer = await downloadPreferredChain(server, account, url, { preferredChain });
  if (answer.kind !== 'ok') return afterDownload(before, answer);
  const accepted = acceptChain(answer.value, request, before.now);
  return 'wrong' in accepted
    ? afterWrongCertificate(before, `the CA returned ${accepted.wrong}`)
    : afterDownload(before, { kind: 'ok', value: accepted.pem });
}
