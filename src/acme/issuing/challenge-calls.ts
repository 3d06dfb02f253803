// SPDX-License-Identifier: Apache-2.0
import { dns01Value, keyAuthorization } from '../protocol/account-key.ts';
import { mapAnswer } from '../protocol/answer.ts';
import { acceptChallenge, getAuthorization } from '../protocol/orders.ts';
import type { Authorization } from '../protocol/resources.ts';
import {
  afterAccepting,
  afterReading,
  type ChallengeAfter,
  type ChallengeBefore,
  type ReadAuthorization,
} from '../orders/challenge-events.ts';
import type { ChallengeType } from '../orders/status.ts';
import type { AcmeSession } from './session.ts';

/** Fields of a Challenge's spec that calls to the server need. */
export interface ChallengeTarget {
  readonly authorizationUrl: string;
  readonly url: string;
  readonly type: ChallengeType;
}

/**
 * Returns the value to present: the content of the file (http-01), or the value of the record
 * (dns-01). Undefined without a token, as for dns-persist-01.
 */
export function presentedValue(
  { account }: AcmeSession,
  type: ChallengeType,
  { token }: { readonly token?: string | undefined },
): string | undefined {
  if (token === undefined) return undefined;
  const authorization = keyAuthorization(token, account.key);
  return type === 'http-01' ? authorization : dns01Value(authorization);
}

/** Reads the state of a Challenge from its authorization. */
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

function stateOf({ status, challenges, expires }: Authorization, url: string): ReadAuthorization {
  const own = challenges.find((each) => each.url === url);
  const error = own?.error === undefined ? undefined : `${own.error.type} ${own.error.detail}`;
  return { authorization: status, challenge: own?.status ?? 'pending', error, expires };
}

/** Notifies the server that it can validate the challenge. */
export async function acceptTheChallenge(
  { server, account }: AcmeSession,
  { url }: ChallengeTarget,
  before: ChallengeBefore,
): Promise<ChallengeAfter> {
  return afterAccepting(before, await acceptChallenge(server, account, url));
}
