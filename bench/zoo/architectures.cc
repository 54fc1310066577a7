// Which architectures can be generated? One line a family.
#include "zoo/architectures.h"

namespace simpred::zoo {

std::vector<Architecture> AllArchitectures() {
  std::vector<Architecture> all;
  for (const auto& family : {PlainCnns(), DepthwiseCnns(), Detectors(), OcrModels(), Encoders(), Decoders(),
                             SegmentationModels(), SpeechModels()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

}  // namespace simpred::zoo
