// SPDX-License-Identifier: Apache-2.0
import { mayProveByHttp } from '../../acme-solving/http/grants.ts';
import type { ResponderOptions } from '../../app/acme/challenge-port.ts';
import { openChallengePort } from '../../app/acme/open-challenge-port.ts';
import { runComponent } from '../../app/component.ts';
import { createAcmeResponder, KeyTable } from '../../controllers/acme-responder/index.ts';

/** Runs the component that answers an ACME server's requests for the files of HTTP-01, until it is stopped. */
export async function run(options: ResponderOptions): Promise<void> {
  const table = new KeyTable();
  const count = { answered: (_status: number): void => undefined };
  const port = await openChallengePort({
    listen: options.listenChallenges,
    keyOf: (token, host) => table.keyOf(token, host),
    isComplete: () => table.isComplete(),
    onAnswered: (status) => {
      count.answered(status);
    },
  });
  await runComponent('acme-responder', options, (component, log) => {
    log.info({ port: port.port }, 'answers validations');
    count.answered = (status) => component.metrics.challengeAnswered(status);
    const { http01Zone } = options;
    return Promise.resolve(
      createAcmeResponder(component, table, (challenge) => mayProveByHttp(challenge, http01Zone)),
    );
  });
  await port.close();
}
