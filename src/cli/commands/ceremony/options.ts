// SPDX-License-Identifier: Apache-2.0

/** Flags of the verbs that sign. */
export interface CeremonyOptions {
  readonly passphraseFile?: string;
  readonly newPassphraseFile?: string;
  readonly allowUriConstraints: boolean;
  readonly count?: number;
  readonly dryRun: boolean;
  readonly yes: boolean;
}
