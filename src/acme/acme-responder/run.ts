// SPDX-License-Identifier: Apache-2.0
import type { Host } from '#component/host.ts';
import { serveChallenges } from '#component/web/challenge-server.ts';
import { mayProveByHttp } from '../solving/http/grants.ts';
import type { ResponderFlags } from './component.ts';
import { createAcmeResponder, KeyTable } from './index.ts';
import * as messages from './messages.ts';
import { RESPONDER_SERIES } from './metrics.ts';

/**
 * Runs the component that answers an ACME server's requests for the files of HTTP-01, until it is
 * stopped.
 */
export async function run({ flags, ...host }: Host<ResponderFlags>): Promise<void> {
  const table = new KeyTable();
  const count = { answered: (_status: number): void => undefined };
  const port = await serveChallenges({
    listen: flags.listenChallenges,
    keyOf: (token, name) => table.keyOf(token, name),
    isComplete: () => table.isComplete(),
    onAnswered: (status) => {
      count.answered(status);
    },
  });
  await host.run((component, log) => {
    log.info({ port: port.port }, messages.ANSWERS_VALIDATIONS);
    const { challengeResponses } = component.metrics.of(RESPONDER_SERIES);
    count.answered = (status) => challengeResponses.inc({ code: String(status) });
    const { http01Zone } = flags;
    return Promise.resolve(
      createAcmeResponder(component, table, (challenge) => mayProveByHttp(challenge, http01Zone)),
    );
  });
  await port.close();
}
