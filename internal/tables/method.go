package tables

import "net/http"

// Root answers /rest/v1/ itself. The reference describes its tables there, or says that this is switched off; so do we.
func (s *Service) Root(w http.ResponseWriter, r *http.Request) error {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return errNoRoot
	case http.MethodOptions:
		return allow(w, "OPTIONS,GET,HEAD")
	}
	return errMethod(r.Method)
}

// Options answers OPTIONS /rest/v1/{table} with the methods that exist; what a caller may do is for policy.
func (s *Service) Options(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.table(w, r); err != nil {
		return err
	}
	return allow(w, "OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE")
}

// RPCOptions answers OPTIONS /rest/v1/rpc/{function}: what only reads may be called by GET.
func (s *Service) RPCOptions(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("function")
	switch f, ok := functions[name]; {
	case !ok:
		return errUnknownFunction(name, nil)
	case f.readOnly:
		return allow(w, "OPTIONS,GET,HEAD,POST")
	}
	return allow(w, "OPTIONS,POST")
}

func allow(w http.ResponseWriter, methods string) error {
	w.Header().Set("Allow", methods)
	w.WriteHeader(http.StatusOK)
	return nil
}

// NoMethod refuses methods that no table knows.
func (s *Service) NoMethod(_ http.ResponseWriter, r *http.Request) error { return errMethod(r.Method) }

// NoRPCMethod refuses methods by which no function can be called.
func (s *Service) NoRPCMethod(_ http.ResponseWriter, r *http.Request) error {
	return errRPCMethod(r.Method)
}
