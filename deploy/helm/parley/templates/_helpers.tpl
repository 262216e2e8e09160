{{- define "parley.name" -}}
{{- if contains "parley" .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}{{ else }}{{ printf "%s-parley" .Release.Name | trunc 63 | trimSuffix "-" }}{{ end -}}
{{- end -}}

{{- define "parley.selector" -}}
app.kubernetes.io/name: parley
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "parley.labels" -}}
{{ include "parley.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end -}}

{{- /* The file config.yaml: the chart's settings, then .Values.config. */ -}}
{{- define "parley.config" -}}
host: 0.0.0.0
port: 8787
behind_proxy: true
{{- with .Values.trustedProxies }}
trusted_proxies: {{ . | toJson }}
{{- end }}
store: {{ .Values.store.url | toJson }}
{{- if .Values.store.passwordSecret }}
store_password_file: /etc/parley/store/password
{{- end }}
{{- with .Values.bus.url }}
bus: {{ . | toJson }}
{{- end }}
{{- if .Values.bus.secret }}
{{- range .Values.bus.files }}
{{ get (dict "ca.crt" "bus_ca" "tls.crt" "bus_cert" "tls.key" "bus_key" "nats.creds" "bus_creds") . }}: /etc/parley/bus/{{ . }}
{{- end }}
{{- end }}
drain_accept_ms: {{ mul .Values.drainAcceptSeconds 1000 }}
drain_ms: {{ mul .Values.drainSeconds 1000 }}
{{- with .Values.config }}
{{ toYaml . }}
{{- end }}
{{- end -}}
