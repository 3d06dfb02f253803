// SPDX-License-Identifier: Apache-2.0
/** Apart from its flag: only `acme-responder` loads the server. */
import { serveChallenges, type ChallengeServerInit } from '../../web/challenge-server.ts';
import type { RunningServer } from '../../web/server.ts';

/**
 * Opens the port that CAs ask: /.well-known/acme-challenge/, and nothing else.
 *
 * @param init - where it listens, what it answers with, and who counts the answers
 * @returns the server that listens; close it to end it
 * @throws SignerError USAGE if it cannot be opened
 */
export function openChallengePort(init: ChallengeServerInit): Promise<RunningServer> {
  return serveChallenges(init);
}
