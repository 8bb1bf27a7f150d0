{{/* The name of an object: that of the release, then what it is. */}}
{{- define "name" -}}
{{ .root.Release.Name }}-{{ .part }}
{{- end }}

{{/* How its pods are found. */}}
{{- define "labels" -}}
app.kubernetes.io/name: rankfield
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{/* What every pod has: no rights, and nothing to write but its volumes. */}}
{{- define "pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: 60
{{- with .root.Values.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: {type: RuntimeDefault}
volumes:
  - name: tmp
    emptyDir: {}
  - name: data
    {{- if .root.Values.files.claim }}
    persistentVolumeClaim: {claimName: {{ .root.Values.files.claim }}}
    {{- else if .root.Values.settings.S3_BUCKET }}
    emptyDir: {sizeLimit: {{ .root.Values.files.size }}}
    {{- else }}
    {{- fail "Where are files stored? Set settings.S3_BUCKET or files.claim." }}
    {{- end }}
  {{- with .root.Values.backups.claim }}
  - name: backups
    persistentVolumeClaim: {claimName: {{ . }}}
  {{- end }}
{{- end }}

{{/* The settings of a site behind one proxy; those of settings in values.yaml come before them. */}}
{{- define "settings" -}}
{{- $host := required "Set host: the name of the site." .root.Values.host }}
{{- $service := printf "%s.%s" (include "name" (dict "root" .root "part" "web")) .root.Release.Namespace }}
{{- $settings := dict
  "ALLOWED_HOSTS" (printf "%s,%s,127.0.0.1" $host $service)
  "BEHIND_PROXY" "1"
  "CSRF_TRUSTED_ORIGINS" (printf "https://%s" $host)
  "HTTPS" "1"
  "RANKFIELD_HOME" "/data"
  "SITE_URL" (printf "https://%s" $host)
  "TMPDIR" "/data/uploads"
}}
{{- if .root.Values.backups.claim }}
{{- $_ := set $settings "BACKUP_FOLDER" "/backups" }}
{{- end }}
{{- range $name, $value := merge (dict) .root.Values.settings $settings }}
- {name: {{ $name }}, value: {{ $value | toString | quote }}}
{{- end }}
{{- end }}

{{/* What every container has. */}}
{{- define "container" -}}
image: {{ required "Set image: where your cluster finds it, with a tag." .root.Values.image }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
envFrom:
  - secretRef: {name: {{ .root.Values.secret }}}
env:
  {{- include "settings" . | trim | nindent 2 }}
volumeMounts:
  - {name: data, mountPath: /data}
  - {name: tmp, mountPath: /tmp}
  {{- if .root.Values.backups.claim }}
  - {name: backups, mountPath: /backups}
  {{- end }}
{{- end }}
