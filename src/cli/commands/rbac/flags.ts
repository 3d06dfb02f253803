// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { CERT_MANAGER_NAMESPACE } from '#api/operator/cert-manager-deployment.ts';
import { DEFAULT_SECRET_NAMESPACE, OWN_TLS_SIGNER } from '#api/signer/own-tls.ts';
import { addFlags } from '#cli/component-flags.ts';
import { RELEASE_FLAG } from '#install/cert-manager-operator/flags.ts';
import { OPERATOR_FLAGS } from '#install/operator/flags.ts';
import type { RbacOptions } from './run.ts';
import { gather } from '#app/flag-values.ts';

const HELP =
  '\nName all your signers, bundles and Secrets in one call, or use --from-cluster: the output replaces what was applied before.\nIf a cluster can be reached, a warning names the signers that its roles have and the output has not.\n--output also writes who-may-request.yaml, which is opt-in: apply it only to require the verb request.';

/** Adds `countersign rbac`: roles and admission policies for the user's own names. */
export function addRbacCommand(root: Command): void {
  const command = root
    .command('rbac')
    .description('print the roles, bindings and admission policies for your own signer names');
  addOperatorFlags(addOptionalParts(addRightsByChoice(addServedNames(command))))
    .option(
      '--signer-domain <domain>',
      'let the components serve every signer name of this domain of a --signer, such as example.com (repeatable); a compromised component then signs for all of them',
      gather,
      [],
    )
    .option(
      '--bundle <signer>:<name>',
      'ClusterTrustBundle that the attester publishes, such as example.com:workload:primary (repeatable)',
      gather,
      [],
    )
    .option('--namespaced-signers', 'for components that also serve Signers in namespaces', false)
    .option(
      '--signer-secret <namespace>/<name>',
      'Secret of a Signer, in the namespace of the Signer (repeatable)',
      gather,
      [],
    )
    .option(
      '--from-cluster',
      'also take the names of the cluster’s ClusterSigners whose Secret is in --secret-namespace',
      false,
    )
    .option(
      '--secret-namespace <name>',
      'namespace of the CA Secrets, for --from-cluster',
      DEFAULT_SECRET_NAMESPACE,
    )
    .option(
      '--kubeconfig <file>',
      'kubeconfig of the cluster to compare with (default: KUBECONFIG, then ~/.kube/config)',
    )
    .option('--context <name>', 'context of the kubeconfig')
    .option('-n, --namespace <name>', 'namespace of the components', 'countersign-system')
    .option(
      '--serving-signer <name>',
      'signer name whose CA signs the certificates of the components’ own ports',
      OWN_TLS_SIGNER,
    )
    .option('--output <directory>', 'write one file for each component instead of printing')
    .option(
      '--who-may-request',
      'also print the policies that require the verb request of each requester',
      false,
    )
    .addHelpText('after', HELP)
    .action(async (options: RbacOptions) => {
      const { writeRbac } = await import('./run.ts');
      await writeRbac(options);
    });
}

/** Adds the flags of names that roles list by the kinds of requests of their signers. */
function addServedNames(command: Command): Command {
  return command
    .option(
      '--signer <name>[=<kind>,...]',
      'signer name; with kinds of requests (pods, requests, certificateRequests) only their components may sign for it (repeatable)',
      gather,
      [],
    )
    .option(
      '--secret <namespace>/<name>[=<kind>,...]',
      'Secret of a CA; with kinds of requests only their components read it (repeatable)',
      gather,
      [],
    );
}

/** Adds the flags for permissions of optional features. */
function addRightsByChoice(command: Command): Command {
  return command
    .option(
      '--pod-services',
      'let pcr-issuer read pods and Services, for signers with spec.pods.services, labels or ipAddresses',
      false,
    )
    .option(
      '--ledger-facts',
      'let pcr-issuer and pod-refresher read the records of the ledger, for their flag --ledger-facts',
      false,
    )
    .option(
      '--aggregated-api',
      'let authority and ledger serve the API of the ledger behind the API server, for their flag --aggregated-api',
      false,
    );
}

/**
 * Adds the flags for objects that components read or write: Secrets with certificates, and objects
 * with a caBundle.
 */
function addNamedObjects(command: Command): Command {
  return command
    .option(
      '--refresh-secret <namespace>/<name>',
      'Secret that pod-refresher may read, with --with pod-refresher (repeatable)',
      gather,
      [],
    )
    .option(
      '--ca-bundle-of <resource>/<name>',
      'object into whose caBundle trust-distributor writes, such as apiservices/v1beta1.metrics.k8s.io, with --with trust-distributor (repeatable)',
      gather,
      [],
    )
    .option(
      '--federated-trust-domain <name>',
      'foreign trust domain whose bundle federation writes, with --with federation (repeatable)',
      gather,
      [],
    )
    .option(
      '--upstream-issuer <namespace>/<kind>.<group>/<name>',
      'issuer of cert-manager that signs managed CAs, and the namespace in which authority creates the requests, such as pki/ClusterIssuer.cert-manager.io/corporate (repeatable)',
      gather,
      [],
    )
    .option(
      '--monitored-secret <namespace>/<name>',
      'Secret whose certificates ledger compares with its records, with --with ledger (repeatable)',
      gather,
      [],
    );
}

/** Adds the flags of components that are off by default. */
function addOptionalParts(command: Command): Command {
  return addNamedObjects(command)
    .option(
      '--acme-signer <name>',
      'signer name of an AcmeClusterSigner (repeatable); it comes with the component acme',
      gather,
      [],
    )
    .option(
      '--external-signer <name>',
      'signer name of an ExternalClusterSigner (repeatable); it comes with the component external-signer',
      gather,
      [],
    )
    .option(
      '--acme-account-key <namespace>/<name>',
      'Secret of the account key of an AcmeClusterSigner, which authority makes with --acme-account-keys (repeatable)',
      gather,
      [],
    )
    .option(
      '--acme-secret <namespace>/<name>',
      'Secret of an external account, or of an account key that you make (repeatable)',
      gather,
      [],
    )
    .option(
      '--acme-renew-certificates',
      'let acme mark Certificates of cert-manager when their CA wants them renewed, for --renew-certificates',
      false,
    )
    .option(
      '--solver-secret <namespace>/<name>',
      'Secret with credentials of DNS, for acme-solver (repeatable)',
      gather,
      [],
    )
    .option(
      '--dns-webhook <group>[/<solver>]',
      'API group of a DNS webhook written for cert-manager that acme-solver may call (repeatable)',
      gather,
      [],
    )
    .option(
      '--route-metadata <key>=<value>',
      'label or annotation that the routes of acme-solver may have (repeatable)',
      gather,
      [],
    )
    .option(
      '--inject <profile>=<signer>',
      'also print the policies that give annotated pods a volume with a certificate, for this name in the annotation (repeatable)',
      gather,
      [],
    )
    .option(
      '--with <component>',
      'component that is left out by default, such as acme-responder (repeatable)',
      gather,
      [],
    );
}

function addOperatorFlags(command: Command): Command {
  return addFlags(command, [...OPERATOR_FLAGS, RELEASE_FLAG])
    .option(
      '--operator <file>',
      'print instead what the operator needs for the Countersign in this file: its roles, its policy and its Deployment',
    )
    .option(
      '--cert-manager-operator',
      'print instead what the operator of cert-manager needs: its namespace, its roles, its policies and its Deployment',
      false,
    )
    .option(
      '--cert-manager-operator-namespace <name>',
      'namespace of that operator, in which nothing else is: its token reads every Secret',
      CERT_MANAGER_NAMESPACE,
    );
}
