// SPDX-License-Identifier: Apache-2.0
/**
 * The values of an installation, as the chart takes them. Its JSON schema is `values.schema.json`.
 * Its descriptions are the comments of `values.yaml` and the rows of
 * docs/reference/chart-values.md. `check.ts` and the chart's templates check what a pattern cannot.
 */
import * as z from 'zod';
import { SERVED_KINDS } from '#api/signer/cluster-signer.ts';
import { MAX_SIGNER_NAME } from '#api/signer/signer-name.ts';
import { MAX_VAULT_SERVER } from '#api/signer/cluster-signer-limits.ts';
import { MAX_UPSTREAM_ISSUER, UPSTREAM_ISSUER } from '#api/signer/upstream-issuer.ts';
import { VAULT_SERVER } from '#api/signer/upstream-vault.ts';
import type { ComponentDescriptor } from '#component/descriptor.ts';
import { COMPONENTS } from '../component-list.ts';
import { fields } from './kubernetes-fields.ts';
import { notifications } from './notifications.ts';
import { caBundles } from './ca-bundles.ts';
import { bundleEndpoint, federation } from './federation.ts';
import { injection } from './injection.ts';
import { keyHolder, type KeyHolderValues } from './key-holder.ts';
import { ledger } from './ledger-schema.ts';
import { NO_GROUP } from '../pod-confinement.ts';
import { LABEL_COMPONENT, LABEL_NAME } from '#kube/resource/labels.ts';

/**
 * Names without quote, wildcard, space or backslash, because they end up in roles and in CEL
 * expressions.
 */
const SAFE = /^[a-z0-9./-]*$/;
const SAFE_WITH_CAPITALS = /^[A-Za-z0-9_.:/@-]*$/;
const DIGEST = /^(sha256:[0-9a-f]{64})?$/;

const name = (maxLength: number): z.ZodString => z.string().max(maxLength).regex(SAFE);
const labelText = name(63);
const subdomain = name(253);
const texts = z.record(z.string(), z.string());
const anything = z.record(z.string(), z.unknown());
const quantities = z.record(z.string(), z.union([z.string(), z.number()]));

/** Returns texts without reserved keys. */
function textsBut(...ours: readonly string[]): typeof texts {
  return texts
    .refine((given) => !ours.some((each) => each in given), {
      message: `must not have ${ours.join(' or ')}, which the chart sets`,
    })
    .meta({ not: { anyOf: ours.map((each) => ({ required: [each] })) } });
}

/** Labels without those that selectors use. */
const labels = textsBut(LABEL_NAME, LABEL_COMPONENT);
const annotations = textsBut('kubernetes.io/description');

const signer = z.strictObject({
  name: name(MAX_SIGNER_NAME).describe('The signer name, such as `example.com/workload`.'),
  bundle: subdomain
    .exactOptional()
    .describe('Name of the bundle, `spec.trustBundle.name`; `""` for none. Default: `primary`.'),
  secret: subdomain
    .exactOptional()
    .describe(
      'Name of the Secret of its CA, in `keysNamespace`. Default: the path of the signer name and `-ca`, such as `workload-ca`.',
    ),
  serves: z
    .array(z.enum(SERVED_KINDS))
    .exactOptional()
    .describe(
      'Kinds of requests that its ClusterSigner serves: `pods`, `requests`, `certificateRequests`. Only the components of these kinds may sign for it and read its CA key. Default: all kinds.',
    ),
  keyHolder: z
    .boolean()
    .exactOptional()
    .describe(
      'Whether the key of its CA is in the key holders of these components, `components.pcr-issuer.keyHolder` and so on. No component may then read a Secret of its CA. Default: `false`.',
    ),
});

const secretReference = z.strictObject({
  namespace: labelText.describe('The namespace of the Signer.'),
  name: subdomain.describe('Name of the Secret.'),
});

const acmeSigner = z.strictObject({
  name: name(MAX_SIGNER_NAME).describe('The signer name of an AcmeClusterSigner.'),
  accountSecret: subdomain
    .exactOptional()
    .describe(
      'Name of the Secret of its account key, in `keysNamespace`; `authority` makes it. Default: the path of the signer name and `-account`.',
    ),
  externalAccountSecret: subdomain
    .exactOptional()
    .describe('Name of the Secret with the MAC key of its external account, in `keysNamespace`.'),
});

/** A Secret of AcmeSigners or of solvers, in its owner's namespace. */
const placedSecret = z.strictObject({
  namespace: labelText.describe('The namespace of the Secret.'),
  name: subdomain.describe('Name of the Secret.'),
});

const external = z
  .strictObject({
    signers: z
      .array(name(MAX_SIGNER_NAME))
      .describe('Signer names of ExternalClusterSigners, such as `example.com/corporate`.'),
    vaults: z
      .array(z.string().max(MAX_VAULT_SERVER).regex(VAULT_SERVER))
      .describe(
        'Servers of Vault or OpenBao that ExternalClusterSigners may name, such as `https://vault.example.com:8200`. `external-signer` calls no other server. The kubelet mounts a token for each, whose audience is this text.',
      ),
  })
  .describe(
    'Signers and CAs of the component `external-signer`, if `components.external-signer.enabled`.',
  );

const flagText = z
  .string()
  .min(1)
  .max(2048)
  .regex(/^[A-Za-z0-9_.:/=[\]-]*$/);

const acme = z
  .strictObject({
    signers: z.array(acmeSigner).describe('One line for each AcmeClusterSigner.'),
    renewCertificates: z
      .boolean()
      .describe(
        'Let `acme` mark Certificates of cert-manager when their CA wants them renewed, as `cmctl renew` does.',
      ),
    solverSecrets: z
      .array(placedSecret)
      .describe(
        'Secrets with credentials of DNS, which `acme-solver` may read: those of AcmeClusterSigners in `countersign-dns`, those of an AcmeSigner in its namespace.',
      ),
    dnsWebhooks: z
      .array(flagText)
      .describe(
        'DNS webhooks written for cert-manager that `acme-solver` may call: `<groupName>`, or `<groupName>/<solverName>`.',
      ),
    routeMetadata: z
      .array(z.string().min(1).max(1_400))
      .describe(
        'Labels and annotations that the Ingresses and HTTPRoutes of `acme-solver` may have: `<key>=<value>`. An AcmeClusterSigner can give its routes these and no others.',
      ),
    secrets: z
      .array(placedSecret)
      .describe(
        'Secrets of AcmeSigners, each in the namespace of its signer, which `acme` may read: account keys and external accounts.',
      ),
    servers: z
      .array(flagText)
      .describe('Directories that AcmeSigners may name; none, so long as this is empty.'),
    solvers: z
      .array(flagText)
      .describe(
        'What solvers of AcmeSigners may call: `rfc2136=host:port`, `acmeDNS=url`, `webhook=group`, `nameserver=host:port`.',
      ),
    networks: z
      .array(flagText)
      .describe('Networks beside the Internet that these servers may be in: `10.0.0.0/8`.'),
    http01Zones: z
      .array(flagText)
      .describe(
        'Names that AcmeSigners of a namespace may prove by HTTP-01: `team-a=team-a.example.com`; none, so long as this is empty.',
      ),
  })
  .describe(
    'What `components.acme`, `components.acme-solver` and `components.acme-responder` serve, where they are enabled.',
  );

/** A user or group other than root. 2147483647 is the greatest that the API server accepts. */
const id = z.int().min(1).max(2_147_483_647);

const podSecurityContext = z
  .strictObject({
    runAsUser: id.exactOptional().describe('User of the processes.'),
    runAsGroup: id.exactOptional().describe('Group of the processes.'),
    fsGroup: z
      .union([id, z.literal(NO_GROUP)])
      .exactOptional()
      .describe(
        'Group of the volumes. Default: `runAsGroup`, else `runAsUser`, else none; with a key holder 65532. `none` leaves it to the cluster, as OpenShift needs it.',
      ),
  })
  .describe(
    'User and groups of the pod (core/v1 PodSecurityContext). By default none is set: the image has the user 65532, and OpenShift sets its own.',
  );

/** Types as the API server takes them. YAML reads an unquoted `true` as another type. */
const toleration = z.looseObject({
  key: z.string().exactOptional(),
  operator: z.string().exactOptional(),
  value: z.string().exactOptional(),
  effect: z.string().exactOptional(),
  tolerationSeconds: z.int().exactOptional(),
});

const settings = z.strictObject({
  replicas: z.int().min(0).exactOptional().describe('Pods of the component.'),
  resources: z
    .strictObject({ requests: quantities.exactOptional(), limits: quantities.exactOptional() })
    .exactOptional()
    .describe('CPU and memory of the container.'),
  extraArgs: z
    .array(z.string())
    .exactOptional()
    .describe('Arguments after those of the chart; the subcommand’s `--help` lists them.'),
  extraEnv: z
    .array(z.looseObject({ name: z.string().min(1), value: z.string().exactOptional() }))
    .exactOptional()
    .describe(
      'Environment variables (core/v1 EnvVar). They can choose the servers that a component calls and trusts: a Countersign accepts only some.',
    ),
  labels: labels
    .exactOptional()
    .describe('Labels of the Deployment and its pods, besides those of the chart.'),
  annotations: annotations.exactOptional().describe('Annotations of the Deployment and its pods.'),
  nodeSelector: texts.exactOptional().describe('Labels of the nodes that it may run on.'),
  tolerations: z.array(toleration).exactOptional().describe('Tolerations (core/v1 Toleration).'),
  affinity: fields
    .nullable()
    .exactOptional()
    .describe(
      'Affinity (core/v1), in place of the default: replicas on different nodes if possible. `{}` for none.',
    ),
  topologySpreadConstraints: z
    .array(fields)
    .exactOptional()
    .describe(
      'Spread over zones (core/v1 TopologySpreadConstraint). Default of `labelSelector`: the labels of the component.',
    ),
  priorityClassName: z.string().exactOptional().describe('PriorityClass of the pods.'),
  podSecurityContext: podSecurityContext.exactOptional(),
});

const image = z.strictObject({
  repository: z.string().min(1).regex(SAFE_WITH_CAPITALS).describe('Registry and name.'),
  tag: z.string().regex(SAFE_WITH_CAPITALS).describe('Tag; if empty, the version of the chart.'),
  digest: z
    .string()
    .regex(DIGEST)
    .describe('`sha256:…`; the kubelet then pulls exactly this image, whatever the tag.'),
  pullPolicy: z
    .enum(['', 'Always', 'IfNotPresent', 'Never'])
    .describe('If empty, the default of Kubernetes.'),
  pullSecrets: z
    .array(z.strictObject({ name: z.string().min(1) }))
    .describe('Secrets for the registry (core/v1 LocalObjectReference).'),
});

const enabled = z.boolean().exactOptional().describe('Install it. Default: `true`.');
const disabled = z.boolean().exactOptional().describe('Install it. Default: `false`.');

const withHolder = settings.extend({ keyHolder: keyHolder.exactOptional() });

type ComponentValues = z.infer<typeof settings> & {
  readonly enabled?: boolean;
  readonly keyHolder?: KeyHolderValues;
};

const componentTable: Readonly<Record<string, z.ZodType<ComponentValues>>> = Object.fromEntries(
  [...COMPONENTS].map(([component, each]) => [
    component,
    valuesOf(each).describe(each.description),
  ]),
);

/** Returns the settings that a component takes. */
function valuesOf({
  optional,
  signsByKeyHolder,
}: Pick<ComponentDescriptor, 'optional' | 'signsByKeyHolder'>): z.ZodType<ComponentValues> {
  if (optional === undefined) return signsByKeyHolder === true ? withHolder : settings;
  const member = { enabled: optional.enabled ? enabled : disabled };
  return signsByKeyHolder === true ? withHolder.extend(member) : settings.extend(member);
}

/** All values, after the defaults are filled in. The schema rejects unknown keys. */
export const installationValues = z.strictObject({
  signers: z
    .array(signer)
    .describe(
      'What to serve: one line for each ClusterSigner. Roles and policies name exactly these.',
    ),
  signerDomains: z
    .array(subdomain)
    .describe(
      'Domains of `signers`, such as `example.com`, of which the roles grant every name (`example.com/*`) besides those that are listed. A compromised component then signs for every name of the domain, also for one that another controller serves.',
    ),
  namespacedSigners: z
    .strictObject({
      enabled: z.boolean().describe('Serve the Signers of all namespaces as well.'),
      secrets: z
        .array(secretReference)
        .describe('Their CA Secrets, which the components may then read.'),
    })
    .describe('Signers that teams write in their own namespaces: docs/how-to/let-a-team-sign.md.'),
  podServices: z
    .boolean()
    .describe(
      'Let `pcr-issuer` read pods and Services: for signers with `spec.pods.services`, `labels` or `ipAddresses`.',
    ),
  acme,
  external,
  injection,
  upstreamIssuers: z
    .array(z.string().max(MAX_UPSTREAM_ISSUER).regex(UPSTREAM_ISSUER))
    .describe(
      'Issuers of cert-manager that sign managed CAs (`upstream.certManager`), each with the namespace of its requests: `pki/ClusterIssuer.cert-manager.io/corporate`. `authority` may then create CertificateRequests there, for these issuers alone.',
    ),
  upstreamVaults: z
    .array(z.string().max(MAX_VAULT_SERVER).regex(VAULT_SERVER))
    .describe(
      'Servers of Vault or OpenBao that sign managed CAs (`upstream.vault`), such as `https://vault.example.com:8200`. `authority` calls no other server, and gets a ServiceAccount token for each, whose audience is this text.',
    ),
  caBundles,
  bundleEndpoint,
  federation,
  namespace: labelText.describe(
    'Namespace of the components. If empty: that of the release, and `countersign-system` when that is `default`.',
  ),
  keysNamespace: labelText
    .min(1)
    .describe(
      'Namespace of the CA Secrets. Nothing runs there; it stays when the chart is uninstalled.',
    ),
  namespaces: z.strictObject({
    create: z
      .boolean()
      .describe('Create the two namespaces; that of the release is never created.'),
  }),
  image: image.describe('The image of all components.'),
  crds: z.strictObject({
    install: z
      .boolean()
      .describe('Install the CustomResourceDefinitions and keep them up to date.'),
    keep: z
      .boolean()
      .describe(
        'Keep them when the chart is uninstalled: without them every ClusterSigner is gone.',
      ),
  }),
  servingSigner: z.strictObject({
    create: z
      .boolean()
      .describe(
        'Create the ClusterSigner whose CA signs the certificates of the ports for metrics, once its definition is in the cluster.',
      ),
  }),
  whoMayRequest: z
    .boolean()
    .describe(
      'Require the verb `request` on the signer for every CertificateSigningRequest (of its creator) and PodCertificateRequest (of its ServiceAccount). CertificateRequests of cert-manager do not need the verb.',
    ),
  networkPolicy: z.strictObject({
    enabled: z.boolean().describe('Let only these peers reach the components.'),
    from: z.array(fields).describe('Who may scrape metrics (networking/v1 NetworkPolicyPeer).'),
  }),
  serviceMonitor: z
    .strictObject({
      enabled: z.boolean().describe('Create a ServiceMonitor for each component.'),
      labels: labels.describe('Labels by which your Prometheus selects them.'),
      interval: z
        .string()
        .regex(/^[0-9]+(ms|s|m|h)$/)
        .describe('How often to scrape.'),
    })
    .describe('For the Prometheus Operator.'),
  alerts: z
    .strictObject({
      enabled: z.boolean().describe('Create a PrometheusRule.'),
      labels: labels.describe('Labels by which your Prometheus selects it.'),
    })
    .describe('For the Prometheus Operator.'),
  dashboards: z
    .strictObject({
      enabled: z.boolean().describe('Create a ConfigMap with the dashboards.'),
      labels: labels.describe('Labels by which the sidecar of your Grafana selects it.'),
    })
    .describe('For Grafana.'),
  ledger,
  notifications,
  defaults: settings.describe('Settings of all components; each may override them.'),
  components: z.strictObject(componentTable).describe('Settings of single components.'),
  global: anything
    .exactOptional()
    .describe('Ignored: what a parent chart passes to all its charts.'),
});

/** Values with all defaults. */
export type InstallationValues = z.infer<typeof installationValues>;
