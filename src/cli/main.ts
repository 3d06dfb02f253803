// SPDX-License-Identifier: Apache-2.0
/** `countersign`: one binary, one subcommand a component, and a few commands for people. */
import { Command } from 'commander';
import { SignerError, messageOf } from '../errors.ts';
import { addAuthorityVerbs } from './commands/authority/flags.ts';
import { addConformanceCommand } from './commands/conformance/flags.ts';
import {
  addComponentOptions,
  addNamespacedOption,
  type ComponentOptions,
} from '../app/component-options.ts';
import { requireNode } from '../app/node-version.ts';
import { addOwnTlsOptions } from '../app/own-tls-options.ts';
import { addPolicyCommand } from './commands/policy/flags.ts';
import { addRbacCommand } from './commands/rbac/flags.ts';
import { addRequestCommand } from './commands/request/flags.ts';
import { VERSION } from '../app/version.ts';

/** Exit codes: 1 the work failed, 2 the command line was wrong (commander exits with 1 for that). */
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** Each component's code is loaded only by its own process: the approver never sees a key's reader. */
const COMPONENTS: Readonly<
  Record<string, [string, () => Promise<{ run(options: ComponentOptions): Promise<void> }>]>
> = {
  approver: [
    'approve and deny CertificateSigningRequests by the rules of their signer',
    () => import('./components/approver.ts'),
  ],
  signer: ['sign approved CertificateSigningRequests', () => import('./components/signer.ts')],
  'pcr-issuer': ['issue PodCertificateRequests', () => import('./components/pcr-issuer.ts')],
  'certificate-request': [
    'sign approved CertificateRequests of cert-manager; dormant where it is not installed',
    () => import('./components/certificate-request.ts'),
  ],
  attester: ['publish ClusterTrustBundles', () => import('./components/attester.ts')],
  authority: [
    'check ClusterSigners, make managed CAs and write their status',
    () => import('./components/authority.ts'),
  ],
};

function program(): Command {
  const root = new Command('countersign')
    .description(
      'Certificates from your own CA inside Kubernetes: the signer for your own signer names.',
    )
    .version(VERSION)
    // What stands behind a command is that command's, however deep: authority and its verbs share flags.
    .enablePositionalOptions()
    .showHelpAfterError('(--help shows the flags)');
  for (const [name, [description, load]] of Object.entries(COMPONENTS)) {
    const command = root.command(name).description(description);
    addComponentOptions(command).action(async (options: ComponentOptions) => {
      const component = await load();
      await component.run(options);
    });
    if (name !== 'attester') addNamespacedOption(command);
    if (name === 'authority') addAuthorityVerbs(addOwnTlsOptions(command));
  }
  addRequestCommand(root);
  addPolicyCommand(root);
  addConformanceCommand(root);
  addRbacCommand(root);
  return root;
}

try {
  requireNode(process.versions.node);
  await program().parseAsync(process.argv);
} catch (error) {
  process.stderr.write(`countersign: ${messageOf(error)}\n`);
  const usage =
    error instanceof RangeError || (error instanceof SignerError && error.code === 'USAGE');
  process.exit(usage ? EXIT_USAGE : EXIT_FAILED);
}
