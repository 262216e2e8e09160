// Renders the Helm chart as `helm template` does, with Helm's libraries that Debian has: Go's text/template and sprig
// (golang-github-masterminds-sprig-dev). Helm itself is not in Debian 12. This program adds Helm's own features that
// the chart uses: include, toYaml, and the objects .Values, .Release and .Chart. Features that the chart does not use
// (tpl, lookup, .Files, .Capabilities, subcharts) are missing: a template that calls one fails.
//
//	render CHART RELEASE NAMESPACE [VALUES.json]      one YAML document for each template that says something
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"github.com/ghodss/yaml"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "render:", err)
		os.Exit(1)
	}
}

func read(path string) map[string]interface{} {
	text, err := os.ReadFile(path)
	check(err)
	var value map[string]interface{}
	check(yaml.Unmarshal(text, &value))
	return value
}

// Merges the given values over those of the chart: objects are merged, all other values are replaced.
func merge(over, under map[string]interface{}) map[string]interface{} {
	for name, value := range over {
		given, isObject := value.(map[string]interface{})
		old, wasObject := under[name].(map[string]interface{})
		if isObject && wasObject {
			under[name] = merge(given, old)
		} else {
			under[name] = value
		}
	}
	return under
}

func main() {
	chart, release, namespace := os.Args[1], os.Args[2], os.Args[3]
	values := read(filepath.Join(chart, "values.yaml"))
	if len(os.Args) > 4 {
		var given map[string]interface{}
		check(json.Unmarshal([]byte(os.Args[4]), &given))
		values = merge(given, values)
	}
	about := read(filepath.Join(chart, "Chart.yaml"))
	objects := map[string]interface{}{
		"Values":  values,
		"Release": map[string]interface{}{"Name": release, "Namespace": namespace, "Service": "Helm"},
		"Chart":   map[string]interface{}{"Name": about["name"], "Version": about["version"], "AppVersion": about["appVersion"]},
	}
	all := template.New("chart").Option("missingkey=error")
	functions := sprig.TxtFuncMap()
	// Helm removes these functions: a chart must not depend on where it is rendered.
	delete(functions, "env")
	delete(functions, "expandenv")
	functions["include"] = func(name string, data interface{}) (string, error) {
		var to strings.Builder
		err := all.ExecuteTemplate(&to, name, data)
		return to.String(), err
	}
	functions["toYaml"] = func(value interface{}) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	all.Funcs(functions)
	paths, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	check(err)
	sort.Strings(paths)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		check(err)
		_, err = all.New(filepath.Base(path)).Parse(string(text))
		check(err)
	}
	for _, path := range paths {
		name := filepath.Base(path)
		if strings.HasPrefix(name, "_") {
			continue
		}
		var to strings.Builder
		check(all.ExecuteTemplate(&to, name, objects))
		text := strings.TrimSpace(to.String())
		if text != "" && strings.HasSuffix(name, ".yaml") {
			fmt.Printf("---\n%s\n", text)
		}
	}
}
