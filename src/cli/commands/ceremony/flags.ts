// SPDX-License-Identifier: Apache-2.0
import { Argument, type Command } from 'commander';
import { fingerprintFlag, positiveFlag } from '#app/flag-values.ts';
import { outputOption } from '#cli/list-options.ts';
import type { SigningVerb } from '#ca/ceremony/ceremony-file.ts';
import type { CeremonyOptions } from './options.ts';
import type { VerifyCeremonyOptions } from './verify.ts';

const EXIT_CODES = `
Exit codes:
  0  signed and written            2  the command line or the file is wrong
  1  not signed, or not written    3  not confirmed`;

/** Verb → its description and its examples. */
const VERBS: Readonly<Record<SigningVerb, readonly [description: string, ...examples: string[]]>> =
  {
    root: [
      'make an offline root: its key, its certificate and a transcript',
      'countersign ceremony root ceremony.yaml --dry-run',
      'countersign ceremony root ceremony.yaml',
    ],
    intermediate: [
      'sign a CSR of a CA, or make keys and certificates of intermediates',
      'countersign ceremony intermediate ceremony.yaml',
      'countersign ceremony intermediate ceremony.yaml --count 5',
    ],
    cross: ['sign the name and the key of another CA', 'countersign ceremony cross ceremony.yaml'],
    crl: [
      'sign the CRL of an offline CA',
      'countersign ceremony crl 2027-07.yaml',
      'countersign ceremony crl 2027-07.yaml --passphrase-file passphrase.txt --yes',
    ],
  };

const VERIFY_HELP = `
Examples:
  countersign ceremony verify ceremony.yaml
  countersign ceremony verify ceremony.yaml root crl --ca-fingerprint sha256:1f3c9a20…

Without verbs, every section of the file must have a transcript.

Exit codes:
  0  everything is as recorded     2  the command line is wrong, or a file cannot be read
  3  something differs`;

/**
 * Adds `countersign ceremony root | intermediate | cross | crl | verify`, which need neither a
 * cluster nor a network.
 */
export function addCeremonyCommands(root: Command): void {
  const ceremony = root
    .command('ceremony')
    .description('make an offline root, its intermediates and its CRLs, from one YAML file');
  addSigningVerb(ceremony, 'root');
  const intermediate = addSigningVerb(ceremony, 'intermediate')
    .option('--count <n>', 'make so many, each by intermediate.every later', positiveFlag, 1)
    .option('--new-passphrase-file <file>', 'file with the passphrase of the keys that it makes');
  addSigningVerb(ceremony, 'cross');
  addSigningVerb(ceremony, 'crl');
  intermediate.summary('sign a CSR of a CA, or make intermediates');
  ceremony
    .command('verify')
    .description('recompute ceremonies from their files, and name what differs')
    .argument('<file>', 'YAML file of the ceremony')
    .addArgument(
      new Argument('[verbs...]', 'verify these only').choices([
        'root',
        'intermediate',
        'cross',
        'crl',
      ]),
    )
    .option(
      '--ca-fingerprint <fingerprint>',
      'SHA-256 of the CA’s certificate, from a source that you trust',
      fingerprintFlag,
    )
    .addOption(outputOption())
    .addHelpText('before', VERIFY_HELP)
    .action(async (file: string, verbs: SigningVerb[], options: VerifyCeremonyOptions) => {
      const { verify } = await import('./verify.ts');
      process.exitCode = await verify(file, verbs, options);
    });
}

function addSigningVerb(ceremony: Command, verb: SigningVerb): Command {
  const [description, ...examples] = VERBS[verb];
  const help = ['', 'Examples:', ...examples.map((each) => `  ${each}`), EXIT_CODES].join('\n');
  return ceremony
    .command(verb)
    .description(description)
    .argument('<file>', 'YAML file of the ceremony')
    .option('--passphrase-file <file>', 'file with the passphrase of ca.key, mode 0600')
    .option(
      '--allow-uri-constraints',
      'take URI constraints, which rustls refuses and GnuTLS ignores',
      false,
    )
    .option('--dry-run', 'print and lint only: open no key, sign and write nothing', false)
    .option(
      '--yes',
      'sign without a typed confirmation: then perhaps no person has read the bytes, and the transcript records it',
      false,
    )
    .addHelpText('before', help)
    .action(async (file: string, options: CeremonyOptions) => {
      const { hold } = await import('./run.ts');
      process.exitCode = await hold(verb, file, options);
    });
}
