// SPDX-License-Identifier: Apache-2.0
/**
 * Reduces objects for the cache: all workloads of a cluster are watched, and only few fields
 * matter.
 */
import { present } from '#base/object-keys.ts';
import type { KubeObject } from '#api/object/object.ts';
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { TemplateContainer, Workload } from '#api/workload/workload.ts';
import { withoutManagedFields } from '#kube/resource/object.ts';
import { parseTime } from '#api/object/time.ts';
import { FIELD_MANAGER } from '../refresh/record.ts';
import { issuedRequest, type IssuedRequest } from '../refresh/credentials/leaf.ts';

export function reducedNamespace({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  return withoutManagedFields({ apiVersion, kind, metadata });
}

export function reducedWorkload(workload: Workload): Workload {
  const { spec } = workload;
  const { volumes, containers, initContainers } = spec.template.spec ?? {};
  const podSpec = {
    ...present('volumes', volumes),
    ...present('containers', containers?.map(reducedContainer)),
    ...present('initContainers', initContainers?.map(reducedContainer)),
  };
  // A cached object is already reduced.
  const templateWriter = workload.templateWriter ?? templateWriterOf(workload);
  return withoutManagedFields({
    ...workload,
    ...present('templateWriter', templateWriter),
    spec: { ...spec, template: { ...spec.template, spec: podSpec } },
  });
}

/** Returns the field manager that last wrote the pod template, besides ours. */
function templateWriterOf({ metadata }: Workload): string | undefined {
  const { managedFields = [] } = metadata;
  const [newest] = managedFields
    .filter(({ manager, fieldsV1 = {} }) => {
      return manager !== FIELD_MANAGER && JSON.stringify(fieldsV1).includes('"f:template"');
    })
    .sort((a, b) => parseTime(b.time ?? '') - parseTime(a.time ?? ''));
  return newest?.manager;
}

function reducedContainer(container: TemplateContainer): TemplateContainer {
  const { name, restartPolicy, env, envFrom, volumeMounts } = container;
  return Object.fromEntries(
    Object.entries({ name, restartPolicy, env, envFrom, volumeMounts }).filter(
      ([, value]) => value !== undefined,
    ),
  );
}

/** Reduces a request. The watch delivers whole requests, and a cached object is already reduced. */
export function reducedRequest(request: IssuedRequest): IssuedRequest {
  // A whole request alone has a spec.
  return 'spec' in request ? issuedRequest(request as unknown as CertificateRequest) : request;
}

export function reducedPodRequest(request: PodCertificateRequest): PodCertificateRequest {
  const {
    stubPKCS10Request: _stub,
    pkixPublicKey: _key,
    proofOfPossession: _proof,
    ...spec
  } = request.spec;
  return withoutManagedFields({ ...request, spec });
}
