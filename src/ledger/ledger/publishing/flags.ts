// SPDX-License-Identifier: Apache-2.0
import { parseDuration } from '#api/object/duration.ts';
import { usageError } from '#base/errors.ts';
import { quote } from '#base/quote.ts';
import type { Flag } from '#component/flag.ts';

/** A witness in a flag. */
interface WitnessFlag {
  /** Verifier key, parsed when the component starts. */
  readonly key: string;
  readonly url: URL;
}

/** Flags of `ledger` for destinations of checkpoints outside the cluster. */
export interface CheckpointFlags {
  readonly checkpointWebhook?: URL;
  readonly checkpointWebhookSecret?: string;
  readonly checkpointObject?: string;
  readonly witness: readonly WitnessFlag[];
  readonly checkpointCa?: string;
  readonly checkpointInterval: number;
}

const INTERVAL_SECONDS = 60;

/** {@link CheckpointFlags} */
export const CHECKPOINT_FLAGS: readonly Flag[] = [
  {
    flag: '--checkpoint-webhook <url>',
    help: 'https URL that each checkpoint is POSTed to, as it is signed',
    parse: parseHttpsUrl,
  },
  {
    flag: '--checkpoint-webhook-secret <file>',
    help: 'secret of the webhook: what is sent has the header webhook-signature of Standard Webhooks; read again for each call',
  },
  {
    flag: '--checkpoint-object <file>',
    help: 'file with the pre-signed https URL of an object that each checkpoint is PUT to, and below it header fields, one a line; read again for each call',
  },
  {
    flag: '--witness <key@url>',
    help: 'witness (C2SP tlog-witness) that cosigns checkpoints: its key <name>+<key ID>+<base64>, and the https URL that add-checkpoint is below (repeatable)',
    parse: parseWitness,
    repeatable: true,
  },
  {
    flag: '--checkpoint-ca <file>',
    help: 'PEM of the only CAs that certificates of these places may be of (default: those of Node.js)',
  },
  {
    flag: '--checkpoint-interval <duration>',
    help: 'how long at least between two checkpoints for one of these places',
    parse: parseDuration,
    default: INTERVAL_SECONDS,
    shown: '1m',
  },
];

/** @throws SignerError USAGE */
function parseHttpsUrl(text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol === 'https:' && url.username === '' && url.hash === '') return url;
  throw usageError(`${quote(text)} is not an https URL without a user name`);
}

/** @throws SignerError USAGE */
function parseWitness(text: string): WitnessFlag {
  const at = text.indexOf('@');
  if (at < 0)
    throw usageError(
      `write <key>@<url>, such as witness.example+5f4d8c2a+BA…@https://witness.example/`,
    );
  return { key: text.slice(0, at), url: parseHttpsUrl(text.slice(at + 1)) };
}
