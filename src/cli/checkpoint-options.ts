// SPDX-License-Identifier: Apache-2.0
import { Option, type Command } from 'commander';
import { durationFlag, parsedFlag } from '../app/flag-values.ts';
import { usageError } from '../errors.ts';
import { quote } from '../quote.ts';

/** A witness, as a flag names it. */
interface WitnessFlag {
  /** Its verifier key, which is read when the component starts. */
  readonly key: string;
  readonly url: URL;
}

/** The flags of `ledger` that say where checkpoints go outside the cluster. */
export interface CheckpointOptions {
  readonly checkpointWebhook?: URL;
  readonly checkpointWebhookSecret?: string;
  readonly checkpointObject?: string;
  readonly witness: readonly WitnessFlag[];
  readonly checkpointCa?: string;
  readonly checkpointInterval: number;
}

const INTERVAL_SECONDS = 60;

/** Adds {@link CheckpointOptions}. */
export function addCheckpointOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--checkpoint-webhook <url>',
        'https URL that each checkpoint is POSTed to, as it is signed',
      ).argParser((text: string) => parsedFlag(text, httpsUrl)),
    )
    .option(
      '--checkpoint-webhook-secret <file>',
      'secret of the webhook: what is sent has the header webhook-signature of Standard Webhooks; read again for each call',
    )
    .option(
      '--checkpoint-object <file>',
      'file with the pre-signed https URL of an object that each checkpoint is PUT to, and below it header fields, one a line; read again for each call',
    )
    .addOption(
      new Option(
        '--witness <key@url>',
        'witness (C2SP tlog-witness) that cosigns checkpoints: its key <name>+<key ID>+<base64>, and the https URL that add-checkpoint is below (repeatable)',
      )
        .argParser((text: string, before: readonly WitnessFlag[]) => [
          ...before,
          parsedFlag(text, parseWitness),
        ])
        .default([]),
    )
    .option(
      '--checkpoint-ca <file>',
      'PEM of the only CAs that certificates of these places may be of (default: those of Node.js)',
    )
    .addOption(
      new Option(
        '--checkpoint-interval <duration>',
        'how long at least between two checkpoints for one of these places',
      )
        .argParser(durationFlag)
        .default(INTERVAL_SECONDS, '1m'),
    );
}

/** @throws SignerError USAGE */
function httpsUrl(text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol === 'https:' && url.username === '' && url.hash === '') return url;
  throw usageError(`${quote(text)} is no https URL without a user name`);
}

/** @throws SignerError USAGE */
function parseWitness(text: string): WitnessFlag {
  const at = text.indexOf('@');
  if (at < 0)
    throw usageError(
      `write <key>@<url>, such as witness.example+5f4d8c2a+BA…@https://witness.example/`,
    );
  return { key: text.slice(0, at), url: httpsUrl(text.slice(at + 1)) };
}
