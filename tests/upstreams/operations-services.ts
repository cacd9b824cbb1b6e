import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

const pod = {
  metadata: { name: 'web-1', namespace: 'shop' },
  spec: { nodeName: 'node-a' },
  status: { phase: 'Running', podIP: '10.1.2.3' },
}
const deployment = {
  metadata: { name: 'web', namespace: 'shop' },
  spec: { replicas: 3, strategy: { type: 'RollingUpdate' } },
  status: { readyReplicas: 3 },
}
const memory = {
  HeapMemoryUsage: { used: 10, committed: 20, max: 40, init: 5 },
  NonHeapMemoryUsage: { used: 1, committed: 2, max: 4 },
}
const instance = { InstanceId: 'i-1', State: { Name: 'running' }, InstanceType: 't3.micro' }

/** What each stand-in answers, by the beginning of what it is asked. */
const answers: readonly (readonly [string, unknown])[] = [
  ['GET /k8s/api/v1/namespaces/shop/pods/web-1/log', 'one\ntwo\n'],
  ['GET /k8s/api/v1/namespaces/shop/pods/web-1', pod],
  ['GET /k8s/api/v1/namespaces/shop/pods', { kind: 'PodList', items: [pod] }],
  [
    'GET /k8s/api/v1/namespaces',
    { kind: 'NamespaceList', items: [{ metadata: { name: 'shop' }, status: { phase: 'Active' } }] },
  ],
  ['GET /k8s/apis/apps/v1/namespaces/shop/deployments/web', deployment],
  ['PATCH /k8s/apis/apps/v1/namespaces/shop/deployments/web', deployment],
  ['GET /aws/ec2/?Action=DescribeInstances', { Reservations: [{ Instances: [instance] }] }],
  ['GET /aws/rds/?Action=DescribeDBInstances', { DBInstances: [{ DBInstanceIdentifier: 'main', Engine: 'postgres' }] }],
  ['POST /aws/monitoring/', { Label: 'CPUUtilization', Datapoints: [{ Average: 12.5 }] }],
  ['GET /aws/s3/?', { Buckets: [{ Name: 'photos' }] }],
  ['GET /aws/s3/photos', { Name: 'photos', Contents: [{ Key: 'a.jpg', Size: 3 }], IsTruncated: false }],
  ['GET /jolokia/read/java.lang:type=Memory', { status: 200, value: memory }],
  [
    'GET /jolokia/read/java.lang:type=GarbageCollector',
    { status: 200, value: { collectors: [{ name: 'G1', count: 4 }] } },
  ],
  [
    'GET /jolokia/exec/java.lang:type=Threading/dumpAllThreads',
    { status: 200, value: { thread_count: 2, threads: [{ name: 'main' }] } },
  ],
  ['GET /jolokia/search/', { status: 200, value: { total_count: 1, mbeans: ['java.lang:type=Memory'] } }],
]

/** Stand-ins of Kubernetes, AWS and Jolokia on one port; whoever comes without the right token is refused. */
export async function startStandIns(tokens: { readonly k8s: string; readonly aws: string }) {
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const line = decodeURIComponent(`${request.method} ${request.url}`)
    asked.push(`${line} ${body}`.trim())
    const answer = answers.find(([begins]) => line.startsWith(begins))?.[1]
    if (!isAllowed(request, tokens)) response.writeHead(403).end()
    else if (answer === undefined) response.writeHead(404).end()
    else if (typeof answer === 'string') response.end(answer)
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url, asked, stop }
}

function isAllowed(
  { url = '', headers }: IncomingMessage,
  tokens: { readonly k8s: string; readonly aws: string },
): boolean {
  if (url.startsWith('/k8s/')) return headers.authorization === `Bearer ${tokens.k8s}`
  if (url.startsWith('/aws/')) return headers['x-amz-security-token'] === tokens.aws
  return true
}

type Calls = Readonly<
  Record<
    string,
    {
      readonly executorType: 'http' | 'mcp'
      readonly executorConfig: object
      readonly input: object
      readonly has: unknown
    }
  >
>

/** How each of the tools is run against the stand-ins, what it is called with, and what its output must have. */
export function operationsCalls(url: string): Calls {
  const get = (path: string, more: object = {}) => ({
    method: 'GET',
    url: `${url}${path}`,
    allowPrivate: true,
    ...more,
  })
  const http = (executorConfig: object, input: object, has: unknown) => ({
    executorType: 'http' as const,
    executorConfig,
    input,
    has,
  })
  const mcp = (tool: string, input: object, has: unknown) => ({
    executorType: 'mcp' as const,
    executorConfig: { server: 'operations', tool },
    input,
    has,
  })
  const k8s = { auth: { type: 'bearer', secret: 'env:K8S_TOKEN' } }
  const aws = { auth: { type: 'header', name: 'x-amz-security-token', secret: 'secret:aws' } }
  const shop = { namespace: 'shop' }
  const jmx = { jmx_url: `${url}/jolokia` }
  const value = { response: { pointer: '/value' } }
  const login = {
    db_type: 'postgresql',
    host: '127.0.0.1',
    database: 'shop',
    username: 'reader',
    password: 'not-shown',
  }
  const apps = '/k8s/apis/apps/v1/namespaces/{namespace}/deployments/{deployment_name}'
  const restart = { spec: { template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } } } } }
  const patch = {
    ...get(apps, k8s),
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: restart,
  }
  const metrics = {
    Namespace: '{namespace}',
    MetricName: '{metric_name}',
    Dimensions: '{dimensions}',
    Period: '{period}',
  }
  const target = { 'x-amz-target': 'GraniteServiceVersion20100801.GetMetricStatistics' }
  const region = { region: 'eu-west-1' }
  const query = (action: string, more: object) => ({ ...aws, query: { Action: action, ...more } })
  return {
    k8s_list_namespaces: http(get('/k8s/api/v1/namespaces', k8s), {}, { kind: 'NamespaceList' }),
    k8s_list_pods: http(
      get('/k8s/api/v1/namespaces/{namespace}/pods', { ...k8s, query: { labelSelector: '{label_selector}' } }),
      { ...shop, label_selector: 'app=web' },
      { kind: 'PodList' },
    ),
    k8s_describe_pod: http(
      get('/k8s/api/v1/namespaces/{namespace}/pods/{pod_name}', k8s),
      { ...shop, pod_name: 'web-1' },
      { status: { phase: 'Running' } },
    ),
    k8s_get_logs: mcp('pod_log', { ...shop, pod_name: 'web-1' }, { data: { logs: 'one\ntwo\n', line_count: 2 } }),
    k8s_get_deployment_status: http(
      get(apps, k8s),
      { ...shop, deployment_name: 'web' },
      { status: { readyReplicas: 3 } },
    ),
    k8s_restart_deployment: http(patch, { ...shop, deployment_name: 'web' }, { metadata: { name: 'web' } }),
    aws_list_ec2_instances: http(
      get('/aws/ec2/', query('DescribeInstances', { MaxResults: '{max_results}' })),
      region,
      { Reservations: [{}] },
    ),
    aws_describe_instance: http(
      get('/aws/ec2/', {
        ...query('DescribeInstances', { 'InstanceId.1': '{instance_id}' }),
        response: { pointer: '/Reservations/0/Instances/0' },
      }),
      { ...region, instance_id: 'i-1' },
      { InstanceId: 'i-1' },
    ),
    aws_describe_rds: http(
      get('/aws/rds/', {
        ...query('DescribeDBInstances', { DBInstanceIdentifier: '{db_instance_identifier}' }),
        response: { pointer: '/DBInstances/0' },
      }),
      { ...region, db_instance_identifier: 'main' },
      { Engine: 'postgres' },
    ),
    aws_get_cloudwatch_metrics: http(
      { ...get('/aws/monitoring/', aws), method: 'POST', headers: target, body: metrics },
      {
        ...region,
        namespace: 'AWS/EC2',
        metric_name: 'CPUUtilization',
        dimensions: [{ name: 'InstanceId', value: 'i-1' }],
      },
      { Datapoints: [{ Average: 12.5 }] },
    ),
    aws_list_s3_buckets: http(get('/aws/s3/', query('ListBuckets', {})), {}, { Buckets: [{ Name: 'photos' }] }),
    aws_list_s3_objects: http(
      get('/aws/s3/{bucket}', { ...aws, query: { 'list-type': 2, prefix: '{prefix}', 'max-keys': '{max_keys}' } }),
      { bucket: 'photos', prefix: 'a' },
      { IsTruncated: false },
    ),
    java_get_heap_usage: http(get('/jolokia/read/java.lang:type=Memory', value), jmx, {
      HeapMemoryUsage: { used: 10 },
    }),
    java_get_gc_stats: http(get('/jolokia/read/java.lang:type=GarbageCollector,name=*', value), jmx, {
      collectors: [{ name: 'G1' }],
    }),
    java_get_thread_dump: http(get('/jolokia/exec/java.lang:type=Threading/dumpAllThreads/{max_depth}', value), jmx, {
      thread_count: 2,
    }),
    java_list_mbeans: http(
      get('/jolokia/search/{domain}:*', value),
      { ...jmx, domain: 'java.lang' },
      { total_count: 1 },
    ),
    db_list_tables: mcp('list_tables', login, { data: { database: 'shop' } }),
    db_describe_table: mcp(
      'describe_table',
      { ...login, table_name: 'orders' },
      { data: { columns: [{ name: 'id' }, { name: 'total' }] } },
    ),
    db_execute_query: mcp(
      'query',
      { ...login, query: 'SELECT * FROM orders', max_rows: 1 },
      { data: { row_count: 1, truncated: true } },
    ),
  }
}
