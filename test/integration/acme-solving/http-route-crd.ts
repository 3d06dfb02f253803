// SPDX-License-Identifier: Apache-2.0

/**
 * The part of Gateway API's HTTPRoute (gateway.networking.k8s.io/v1) that a route for one path
 * needs, with the names, types and bounds of its v1.3 definition: what is written here is written
 * there.
 */
export const HTTP_ROUTE_CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: 'httproutes.gateway.networking.k8s.io',
    // The API server demands it in groups of k8s.io.
    annotations: {
      'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/gateway-api/pull/3328',
    },
  },
  spec: {
    group: 'gateway.networking.k8s.io',
    scope: 'Namespaced',
    names: {
      kind: 'HTTPRoute',
      listKind: 'HTTPRouteList',
      plural: 'httproutes',
      singular: 'httproute',
    },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                properties: {
                  parentRefs: {
                    type: 'array',
                    maxItems: 32,
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: {
                        group: { type: 'string', default: 'gateway.networking.k8s.io' },
                        kind: { type: 'string', default: 'Gateway' },
                        namespace: { type: 'string', minLength: 1, maxLength: 63 },
                        name: { type: 'string', minLength: 1, maxLength: 253 },
                        sectionName: { type: 'string', minLength: 1, maxLength: 253 },
                      },
                    },
                  },
                  hostnames: {
                    type: 'array',
                    maxItems: 16,
                    items: {
                      type: 'string',
                      minLength: 1,
                      maxLength: 253,
                      pattern:
                        '^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
                    },
                  },
                  rules: {
                    type: 'array',
                    minItems: 1,
                    maxItems: 16,
                    items: {
                      type: 'object',
                      properties: {
                        matches: {
                          type: 'array',
                          maxItems: 64,
                          items: {
                            type: 'object',
                            properties: {
                              path: {
                                type: 'object',
                                properties: {
                                  type: {
                                    type: 'string',
                                    enum: ['Exact', 'PathPrefix', 'RegularExpression'],
                                  },
                                  value: { type: 'string', maxLength: 1024 },
                                },
                              },
                            },
                          },
                        },
                        backendRefs: {
                          type: 'array',
                          maxItems: 16,
                          items: {
                            type: 'object',
                            required: ['name'],
                            properties: {
                              group: { type: 'string', default: '' },
                              kind: { type: 'string', default: 'Service' },
                              name: { type: 'string', minLength: 1, maxLength: 253 },
                              port: {
                                type: 'integer',
                                format: 'int32',
                                minimum: 1,
                                maximum: 65535,
                              },
                              weight: { type: 'integer', format: 'int32', default: 1 },
                            },
                          },
                        },
                      },
                    },
                  },
                },
              },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      },
    ],
  },
} as const;
