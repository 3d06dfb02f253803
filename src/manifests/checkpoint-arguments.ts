// SPDX-License-Identifier: Apache-2.0
/** How the ledger is told where its checkpoints go outside the cluster. */

/** Credentials of those places: the user makes this Secret, and the arguments name its files. */
export const CHECKPOINT_SECRET = 'countersign-ledger-checkpoints';
export const CHECKPOINT_DIRECTORY = '/run/countersign/checkpoints';

/** Where checkpoints go outside the cluster, as values say it. */
export interface CheckpointPlaces {
  readonly webhook: string;
  readonly signWebhook: boolean;
  readonly objectStore: boolean;
  readonly witnesses: readonly string[];
  readonly ownCa: boolean;
  readonly interval: string;
}

/** The arguments for that; the chart's helper `countersign.ledgerArgs` makes the same. */
export function checkpointArguments(places: CheckpointPlaces): readonly string[] {
  const { webhook, signWebhook, objectStore, witnesses, ownCa, interval } = places;
  const file = (flag: string, key: string): string => `${flag}=${CHECKPOINT_DIRECTORY}/${key}`;
  const args = [
    ...(webhook === '' ? [] : [`--checkpoint-webhook=${webhook}`]),
    ...(signWebhook ? [file('--checkpoint-webhook-secret', 'webhook-secret')] : []),
    ...(objectStore ? [file('--checkpoint-object', 'object-url')] : []),
    ...witnesses.map((each) => `--witness=${each}`),
    ...(ownCa ? [file('--checkpoint-ca', 'ca.crt')] : []),
  ];
  return args.length === 0 ? [] : [...args, `--checkpoint-interval=${interval}`];
}
