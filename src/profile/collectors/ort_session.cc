// ONNX Runtime's C interface, loaded at run time, as far as measuring needs it.
#ifdef SIMPRED_HAS_ONNXRUNTIME_HEADER

#include "profile/collectors/ort_session.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <onnxruntime_c_api.h>

#include <algorithm>
#include <optional>

namespace simpred {

struct RuntimeLibrary::Impl {
  const OrtApi* api = nullptr;
  OrtEnv* env = nullptr;
  std::string version;
  std::filesystem::path file;

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (env != nullptr) api->ReleaseEnv(env);  // the library stays loaded: it is not made for dlclose
  }
};

namespace {

Status ToStatus(const OrtApi* api, OrtStatus* status) {
  if (status == nullptr) return OkStatus();
  std::string text = api->GetErrorMessage(status);
  api->ReleaseStatus(status);
  return ModelError("ONNX Runtime: " + text);
}

GraphOptimizationLevel ToOrt(FusionLevel level) {
  switch (level) {
    case FusionLevel::kOff:
      return ORT_DISABLE_ALL;
    case FusionLevel::kBasic:
      return ORT_ENABLE_BASIC;
    case FusionLevel::kExtended:
      return ORT_ENABLE_EXTENDED;
    case FusionLevel::kAll:
      break;
  }
  return ORT_ENABLE_ALL;
}

// Types that RandomTensor can fill.
ONNXTensorElementDataType ToOrt(DataType t) {
  switch (t) {
    case DataType::kFloat32:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
    case DataType::kFloat64:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE;
    case DataType::kFloat16:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16;
    case DataType::kBFloat16:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16;
    case DataType::kInt8:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8;
    case DataType::kUInt8:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8;
    case DataType::kInt16:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16;
    case DataType::kUInt16:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16;
    case DataType::kInt32:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32;
    case DataType::kUInt32:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32;
    case DataType::kInt64:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
    case DataType::kUInt64:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64;
    case DataType::kBool:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL;
    default:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  }
}

struct ReleaseOptions {
  const OrtApi* api;
  void operator()(OrtSessionOptions* o) const { api->ReleaseSessionOptions(o); }
};
using OptionsPtr = std::unique_ptr<OrtSessionOptions, ReleaseOptions>;

#define SIMPRED_RETURN_IF_ORT_ERROR(api, call) SIMPRED_RETURN_IF_ERROR(ToStatus(api, call))

Result<OptionsPtr> MakeOptions(const OrtApi* api, const RuntimeSessionOptions& o) {
  OrtSessionOptions* raw = nullptr;
  SIMPRED_RETURN_IF_ORT_ERROR(api, api->CreateSessionOptions(&raw));
  OptionsPtr made(raw, {api});
  SIMPRED_RETURN_IF_ORT_ERROR(api, api->SetIntraOpNumThreads(raw, o.threads));
  SIMPRED_RETURN_IF_ORT_ERROR(api, api->SetInterOpNumThreads(raw, 1));
  SIMPRED_RETURN_IF_ORT_ERROR(api, api->SetSessionExecutionMode(raw, ORT_SEQUENTIAL));
  SIMPRED_RETURN_IF_ORT_ERROR(api, api->SetSessionGraphOptimizationLevel(raw, ToOrt(o.level)));
  for (const auto& [name, value] : o.symbols) {
    SIMPRED_RETURN_IF_ORT_ERROR(api, api->AddFreeDimensionOverrideByName(raw, name.c_str(), value));
  }
  if (!o.save_optimized_to.empty()) {
    SIMPRED_RETURN_IF_ORT_ERROR(api, api->SetOptimizedModelFilePath(raw, o.save_optimized_to.c_str()));
  }
  if (!o.profile_file_prefix.empty()) {
    SIMPRED_RETURN_IF_ORT_ERROR(api, api->EnableProfiling(raw, o.profile_file_prefix.c_str()));
  }
  return made;
}

}  // namespace

bool BuiltWithRuntimeHeader() { return true; }

Result<RuntimeLibrary> RuntimeLibrary::Load(const std::filesystem::path& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return UnavailableError(fmt::format("ONNX Runtime cannot be loaded: {}", dlerror()));
  using GetBase = const OrtApiBase* (*)();
  const auto get_base = reinterpret_cast<GetBase>(dlsym(handle, "OrtGetApiBase"));
  if (get_base == nullptr) return UnavailableError(fmt::format("'{}' is not ONNX Runtime", library.string()));
  RuntimeLibrary loaded;
  loaded.impl_ = std::make_shared<Impl>();
  loaded.impl_->version = get_base()->GetVersionString();
  loaded.impl_->api = get_base()->GetApi(ORT_API_VERSION);
  if (loaded.impl_->api == nullptr) {
    return UnavailableError(fmt::format("ONNX Runtime {} in '{}' is older than interface {}", loaded.version(),
                                        library.string(), ORT_API_VERSION),
                            "run scripts/get_onnxruntime.sh and build again");
  }
  Dl_info where{};
  const bool found = dladdr(reinterpret_cast<void*>(get_base), &where) != 0 && where.dli_fname != nullptr;
  loaded.impl_->file = found ? std::filesystem::path(where.dli_fname) : library;
  SIMPRED_RETURN_IF_ORT_ERROR(loaded.impl_->api,
                              loaded.impl_->api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "sim_predict", &loaded.impl_->env));
  return loaded;
}

std::string RuntimeLibrary::version() const { return impl_->version; }
std::filesystem::path RuntimeLibrary::file() const { return impl_->file; }

struct RuntimeSession::Impl {
  std::shared_ptr<RuntimeLibrary::Impl> library;
  const OrtApi* api = nullptr;
  ::OrtSession* session = nullptr;
  OrtAllocator* allocator = nullptr;  // the runtime's default one; not owned
  OrtMemoryInfo* memory = nullptr;
  std::vector<std::string> input_names, output_names, input_bytes;
  std::vector<const char*> input_name_pointers, output_name_pointers;
  std::vector<OrtValue*> inputs, outputs;

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    ReleaseAll(inputs);
    ReleaseAll(outputs);
    if (memory != nullptr) api->ReleaseMemoryInfo(memory);
    if (session != nullptr) api->ReleaseSession(session);
  }

  void ReleaseAll(std::vector<OrtValue*>& values) const {
    for (OrtValue*& v : values) {
      if (v != nullptr) api->ReleaseValue(v);
      v = nullptr;
    }
  }

  Status ReadNames(bool of_inputs, std::vector<std::string>& names, std::vector<const char*>& pointers) const {
    size_t count = 0;
    SIMPRED_RETURN_IF_ORT_ERROR(
        api, of_inputs ? api->SessionGetInputCount(session, &count) : api->SessionGetOutputCount(session, &count));
    for (size_t i = 0; i < count; ++i) {
      char* name = nullptr;
      SIMPRED_RETURN_IF_ORT_ERROR(api, of_inputs ? api->SessionGetInputName(session, i, allocator, &name)
                                                 : api->SessionGetOutputName(session, i, allocator, &name));
      names.emplace_back(name);
      SIMPRED_RETURN_IF_ORT_ERROR(api, api->AllocatorFree(allocator, name));
    }
    for (const std::string& name : names) pointers.push_back(name.c_str());
    return OkStatus();
  }

  Status AddInput(const RuntimeInput& in, Random& random) {
    SIMPRED_ASSIGN_OR_RETURN(std::string bytes, RandomTensor(in, random));
    // One byte more, so that an empty tensor has an address too.
    bytes.reserve(bytes.size() + 1);
    input_bytes.push_back(std::move(bytes));
    OrtValue* value = nullptr;
    SIMPRED_RETURN_IF_ORT_ERROR(
        api, api->CreateTensorWithDataAsOrtValue(memory, input_bytes.back().data(), input_bytes.back().size(),
                                                 in.dims.data(), in.dims.size(), ToOrt(in.dtype), &value));
    inputs.push_back(value);
    return OkStatus();
  }
};

Result<RuntimeSession> RuntimeSession::Open(const RuntimeLibrary& library, const RuntimeSessionOptions& options) {
  RuntimeSession opened;
  opened.impl_ = std::make_shared<Impl>();
  Impl& s = *opened.impl_;
  s.library = library.impl_;
  s.api = library.impl_->api;
  SIMPRED_ASSIGN_OR_RETURN(const OptionsPtr session_options, MakeOptions(s.api, options));
  SIMPRED_RETURN_IF_ORT_ERROR(
      s.api, s.api->CreateSession(library.impl_->env, options.model.c_str(), session_options.get(), &s.session));
  SIMPRED_RETURN_IF_ORT_ERROR(s.api, s.api->GetAllocatorWithDefaultOptions(&s.allocator));
  SIMPRED_RETURN_IF_ORT_ERROR(s.api, s.api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &s.memory));
  SIMPRED_RETURN_IF_ERROR(s.ReadNames(true, s.input_names, s.input_name_pointers));
  SIMPRED_RETURN_IF_ERROR(s.ReadNames(false, s.output_names, s.output_name_pointers));
  s.outputs.resize(s.output_names.size());
  return opened;
}

Status RuntimeSession::SetInputs(const std::vector<RuntimeInput>& inputs, uint64_t seed) {
  Impl& s = *impl_;
  Random random(seed);
  s.ReleaseAll(s.inputs);
  s.inputs.clear();
  s.input_bytes.clear();
  s.input_bytes.reserve(s.input_names.size());  // the tensors point into it
  for (const std::string& name : s.input_names) {
    const auto in = std::find_if(inputs.begin(), inputs.end(), [&](const RuntimeInput& i) { return i.name == name; });
    if (in == inputs.end()) return ModelError(fmt::format("nothing is known of input '{}'", name));
    SIMPRED_RETURN_IF_ERROR(s.AddInput(*in, random));
  }
  return OkStatus();
}

Status RuntimeSession::Run() {
  Impl& s = *impl_;
  s.ReleaseAll(s.outputs);
  return ToStatus(s.api, s.api->Run(s.session, nullptr, s.input_name_pointers.data(), s.inputs.data(), s.inputs.size(),
                                    s.output_name_pointers.data(), s.output_names.size(), s.outputs.data()));
}

Result<std::filesystem::path> RuntimeSession::EndProfiling() {
  Impl& s = *impl_;
  char* name = nullptr;
  SIMPRED_RETURN_IF_ORT_ERROR(s.api, s.api->SessionEndProfiling(s.session, s.allocator, &name));
  std::filesystem::path path = name;
  SIMPRED_RETURN_IF_ORT_ERROR(s.api, s.api->AllocatorFree(s.allocator, name));
  return path;
}

}  // namespace simpred

#endif  // SIMPRED_HAS_ONNXRUNTIME_HEADER
