// SPDX-License-Identifier: Apache-2.0
import { dns01Value, keyAuthorization } from '../acme/account-key.ts';
import { mapAnswer } from '../acme/answer.ts';
import { acceptChallenge, getAuthorization } from '../acme/orders.ts';
import type { Authorization } from '../acme/resources.ts';
import {
  afterAccepting,
  afterReading,
  type ChallengeAfter,
  type ChallengeBefore,
  type ReadAuthorization,
} from '../acme-orders/challenge-events.ts';
import type { ChallengeType, OfferedChallenge } from '../acme-orders/record.ts';
import type { AcmeSession } from './session.ts';

/** The spec of a Challenge, as far as the server is asked about it. */
export interface ChallengeTarget {
  readonly authorizationUrl: string;
  readonly url: string;
  readonly type: ChallengeType;
}

/** What is presented for a challenge: the content of the file (http-01), or the value of the record (dns-01). */
export function presentedValue(
  { account }: AcmeSession,
  type: ChallengeType,
  { token }: OfferedChallenge,
): string | undefined {
  if (token === undefined) return undefined;
  const authorization = keyAuthorization(token, account.key);
  return type === 'http-01' ? authorization : dns01Value(authorization);
}

/** Reads the state of a Challenge, by its authorization. */
export async function readChallenge(
  { server, account }: AcmeSession,
  { authorizationUrl, url }: ChallengeTarget,
  before: ChallengeBefore,
): Promise<ChallengeAfter> {
  const answer = await getAuthorization(server, account, authorizationUrl);
  return afterReading(
    before,
    mapAnswer(answer, (found) => stateOf(found, url)),
  );
}

function stateOf({ status, challenges }: Authorization, url: string): ReadAuthorization {
  const own = challenges.find((each) => each.url === url);
  const error = own?.error === undefined ? undefined : `${own.error.type} ${own.error.detail}`;
  return { authorization: status, challenge: own?.status ?? 'pending', error };
}

/** Tells the server that it may validate. */
export async function acceptTheChallenge(
  { server, account }: AcmeSession,
  { url }: ChallengeTarget,
  before: ChallengeBefore,
): Promise<ChallengeAfter> {
  return afterAccepting(before, await acceptChallenge(server, account, url));
}
