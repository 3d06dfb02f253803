// SPDX-License-Identifier: Apache-2.0
/** The table of commands: a subcommand for each component, and the commands for people. */
import { basename } from 'node:path';
import { Command } from 'commander';
import { addAcmeCommands } from './commands/acme/flags.ts';
import { addApproveCommands } from './commands/approve/flags.ts';
import { addAuthorityVerbs } from './commands/authority/flags.ts';
import { addCheckCommand } from './commands/check/flags.ts';
import { addCompletionCommands } from './commands/completion/flags.ts';
import { addConformanceCommand } from './commands/conformance/flags.ts';
import {
  addAcmeOptions,
  addComponentOptions,
  addCertManagerOptions,
  addImageOptions,
  addNamespacedOption,
  addOwnTlsOptions,
  type ComponentOptions,
} from '../app/component-options.ts';
import { addFactsOption, addLedgerOptions, RECORDING_COMPONENTS } from '../app/ledger/options.ts';
import { addHttp01Options, addResponderOptions } from '../app/acme/challenge-port.ts';
import { addCredentialOptions, addDnsOptions } from '../app/acme/dns-options.ts';
import { addEndpointOptions } from '../app/spiffe/endpoint-options.ts';
import { addFederationOptions } from '../app/spiffe/federation-options.ts';
import { addLedgerVerbs } from './commands/ledger/flags.ts';
import { addCertManagerOperatorVerbs, addOperatorVerbs } from './commands/operator/flags.ts';
import { addRefreshOptions, addRefreshSecretOption } from './refresh-options.ts';
import { addInspectCommand } from './commands/inspect/flags.ts';
import { addInstallCommands } from './commands/install/flags.ts';
import { addIssuedCommand } from './commands/issued/flags.ts';
import { addLintCommand } from './commands/lint/flags.ts';
import { addNeedsRenewalCommand } from './commands/needs-renewal/flags.ts';
import { addExplainCommand } from './commands/explain/flags.ts';
import { addSelfCheckOptions } from '../app/acme/self-check-options.ts';
import { addManifestsCommand } from './commands/manifests/flags.ts';
import { addPolicyCommand } from './commands/policy/flags.ts';
import { addRbacCommand } from './commands/rbac/flags.ts';
import { addTrustOptions } from './trust-options.ts';
import { addRefreshCommand } from './commands/refresh/flags.ts';
import { addRequestCommand } from './commands/request/flags.ts';
import { addRevokeCommand } from './commands/revoke/flags.ts';
import { VERSION } from '../app/version.ts';
import { addNotifierOptions } from './notifier-options.ts';
import { addLedgerComponentOptions } from './ledger-options.ts';
import { HELP_STYLE, applyManners } from './manners/manners.ts';
import { applyUsageErrors, EXIT_USAGE } from './manners/usage-errors.ts';

/** Lazy imports: a process loads the code of its own component only, so the approver has no code that reads keys. */
const COMPONENTS: Readonly<
  Record<string, [string, () => Promise<{ run(options: ComponentOptions): Promise<void> }>]>
> = {
  approver: [
    'run the component that approves and denies CertificateSigningRequests by the rules of their signer',
    () => import('./components/approver.ts'),
  ],
  signer: [
    'run the component that signs approved CertificateSigningRequests',
    () => import('./components/signer.ts'),
  ],
  'pcr-issuer': [
    'run the component that issues PodCertificateRequests',
    () => import('./components/pcr-issuer.ts'),
  ],
  'certificate-request': [
    'run the component that signs approved CertificateRequests of cert-manager, once that is installed',
    () => import('./components/certificate-request.ts'),
  ],
  attester: [
    'run the component that publishes ClusterTrustBundles',
    () => import('./components/attester.ts'),
  ],
  authority: [
    'run the component that checks ClusterSigners and manages CAs; with a verb: manage CAs yourself',
    () => import('./components/authority.ts'),
  ],
  acme: [
    'run the component that gets certificates from ACME servers',
    () => import('./components/acme.ts'),
  ],
  'acme-responder': [
    'run the component that answers ACME servers which look for the files of HTTP-01; it faces the Internet',
    () => import('./components/acme-responder.ts'),
  ],
  'acme-solver': [
    'run the component that presents the Challenges of ACME by DNS records, Ingresses and HTTPRoutes',
    () => import('./components/acme-solver.ts'),
  ],
  operator: [
    'run the component that installs and heals all others, from one Countersign object',
    () => import('./components/operator.ts'),
  ],
  'cert-manager-operator': [
    'run the component that installs and heals cert-manager, from one CertManagerDeployment object',
    () => import('./components/cert-manager-operator.ts'),
  ],
  'pod-refresher': [
    'run the component that restarts workloads which opted in when their certificates have changed',
    () => import('./components/pod-refresher.ts'),
  ],
  ledger: [
    'run the component that keeps records of what was asked, allowed and issued',
    () => import('./components/ledger.ts'),
  ],
  'trust-distributor': [
    'run the component that copies published anchors into ConfigMaps of namespaces that opted in, and into caBundles',
    () => import('./components/trust-distributor.ts'),
  ],
  'bundle-endpoint': [
    'run the component that serves SPIFFE bundles to other trust domains',
    () => import('./components/bundle-endpoint.ts'),
  ],
  federation: [
    'run the component that fetches SPIFFE bundles of other trust domains',
    () => import('./components/federation.ts'),
  ],
  notifier: [
    'run the component that tells others what happens to certificates and CAs, by CloudEvents',
    () => import('./components/outside/notifier.ts'),
  ],
};

/** The components that serve no Signers of namespaces. */
const WITHOUT_SIGNERS: readonly string[] = [
  'attester',
  'acme-responder',
  'operator',
  'cert-manager-operator',
  'pod-refresher',
  'bundle-endpoint',
  'federation',
];

/** The flags that one component alone has. */
const OWN_FLAGS: Readonly<Record<string, (command: Command) => unknown>> = {
  'acme-responder': (command) => addResponderOptions(command),
  'bundle-endpoint': (command) => addEndpointOptions(command),
  federation: (command) => addFederationOptions(command),
  'acme-solver': (command) => addCredentialOptions(addDnsOptions(addHttp01Options(command))),
  acme: (command) => addSelfCheckOptions(addAcmeOptions(command)),
  'pcr-issuer': (command) => addFactsOption(command),
  'pod-refresher': (command) => addFactsOption(addRefreshSecretOption(addRefreshOptions(command))),
  'trust-distributor': (command) => addTrustOptions(command),
  notifier: (command) => addNotifierOptions(command),
  ledger: (command) => addLedgerVerbs(addLedgerComponentOptions(command)),
  authority: (command) => addAuthorityVerbs(addOwnTlsOptions(command)),
  operator: (command) => addOperatorVerbs(addImageOptions(command)),
  'cert-manager-operator': (command) => addCertManagerOperatorVerbs(addCertManagerOptions(command)),
};

/**
 * All commands.
 *
 * @param script - what was started: as kubectl runs it, it is `kubectl countersign`
 * @param exit - ends the process, where help was printed or the command line is wrong
 */
export function program(script: string, exit: (code: number) => never): Command {
  const isPlugin = basename(script).startsWith('kubectl-');
  const root = new Command(isPlugin ? 'kubectl countersign' : 'countersign')
    .description(
      'Certificates from your own CA inside Kubernetes: the signer for your own signer names.',
    )
    .version(VERSION)
    // Flags after a command belong to that command: authority and its verbs share some.
    .enablePositionalOptions()
    .configureHelp(HELP_STYLE)
    // commander would exit with 1, which commands have another meaning for.
    .exitOverride(({ exitCode }) => exit(exitCode === 0 ? 0 : EXIT_USAGE));
  for (const [name, [description, load]] of Object.entries(COMPONENTS)) {
    const command = root.command(name).description(description);
    addComponentOptions(command).action(async (options: ComponentOptions) => {
      const component = await load();
      await component.run(options);
    });
    if (!WITHOUT_SIGNERS.includes(name)) addNamespacedOption(command);
    if (RECORDING_COMPONENTS.includes(name)) addLedgerOptions(command);
    OWN_FLAGS[name]?.(command);
  }
  addCheckCommand(root);
  addExplainCommand(root);
  addInspectCommand(root);
  addInstallCommands(root);
  addIssuedCommand(root);
  addLintCommand(root);
  addNeedsRenewalCommand(root);
  addApproveCommands(root);
  addRequestCommand(root);
  addAcmeCommands(root);
  addPolicyCommand(root);
  addConformanceCommand(root);
  addRbacCommand(root);
  addManifestsCommand(root);
  addRefreshCommand(root);
  addRevokeCommand(root);
  addCompletionCommands(root);
  applyManners(root);
  applyUsageErrors(root);
  return root;
}
